//! CSV, TSV and their relatives: values between delimiters, line after line.
//!
//! The delimiter and whether there is a header line are found out from the first lines, what each column holds from the
//! first thousand. The text then streams through in blocks that end with a line; blocks are parsed in parallel, each
//! into rows of numbers, and appended in order. In memory are the numbers and a few blocks, never the text.

mod block;
mod dialect;

use std::io::Read;

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::table::{Column, MISSING_SHOWN, Place, Table, Wanted, check_distinct};

use block::{BLOCK, Block, Blocks, Layout, Parsed};

/// Reads a table; `file` is its name in messages.
///
/// # Errors
/// When it cannot be read or is not a table.
pub fn read(source: impl Read, file: &str, wanted: &Wanted) -> Result<Table> {
    read_in_blocks(source, file, wanted, BLOCK)
}

/// The same with blocks of about `size` bytes: for tests, which find little at the ends of large ones.
#[doc(hidden)]
pub fn read_in_blocks(source: impl Read, file: &str, wanted: &Wanted, size: usize) -> Result<Table> {
    let mut blocks = Blocks::of_size(source, file, size);
    let Some((mut first, dialect)) = blocks.first()? else { return Err(Error::Empty { file: file.into() }) };
    first.skip_empty_lines();
    if !first.text.contains(&b'\n') && first.text.trim_ascii().contains(&b'\r') {
        let problem = "its lines end with a carriage return only; save it with line feeds".into();
        return Err(Error::File { file: file.into(), problem });
    }
    let Some(names) = dialect.names(&mut first, file)? else {
        return Err(Error::Empty { file: file.into() });
    };
    check_distinct(&names, file)?;
    let places = wanted.places(&names, file)?;
    let layout = Layout::new(file, names, places, dialect, wanted, &first)?;
    let mut columns: Vec<Column> = (layout.places.iter().zip(&layout.is_text))
        .map(|(&place, is_text)| Column { name: layout.names[place].clone(), levels: is_text.then(Vec::new) })
        .collect();
    let mut table = Table {
        file: file.into(),
        columns: Vec::new(),
        values: Vec::new(),
        missing: Vec::new(),
        unit: "line",
    };
    let mut pending = Some(first);
    loop {
        let mut batch: Vec<Block> = pending.take().into_iter().collect();
        while batch.len() < rayon::current_num_threads() {
            match blocks.next()? {
                Some(block) => batch.push(block),
                None => break,
            }
        }
        if batch.is_empty() {
            break;
        }
        let parsed: Vec<Result<Parsed>> = batch.par_iter().map(|block| layout.parse(block)).collect();
        for parsed in parsed {
            append(&mut table, &mut columns, parsed?, &layout)?;
        }
    }
    if table.values.is_empty() {
        return Err(Error::NoRows { file: file.into() });
    }
    table.columns = columns;
    Ok(table)
}

/// Adds the rows of a block, whose levels are numbered in their own way.
fn append(table: &mut Table, columns: &mut [Column], parsed: Parsed, layout: &Layout<'_>) -> Result<()> {
    let width = columns.len();
    let begin = table.values.len();
    table.values.extend(&parsed.values);
    for (c, column) in columns.iter_mut().enumerate() {
        let Some(levels) = &mut column.levels else { continue };
        let mut codes = Vec::with_capacity(parsed.levels[c].len());
        for (text, line) in &parsed.levels[c] {
            codes.push(match levels.iter().position(|level| level == text) {
                Some(code) => code as f64,
                None => {
                    layout.check_level(c, levels.len(), text, *line)?;
                    levels.push(text.clone());
                    (levels.len() - 1) as f64
                }
            });
        }
        for value in table.values[begin..].iter_mut().skip(c).step_by(width) {
            if !value.is_nan() {
                *value = codes[*value as usize];
            }
        }
    }
    let room = MISSING_SHOWN.saturating_sub(table.missing.len());
    table.missing.extend(parsed.missing.into_iter().take(room).map(|(line, column)| Place { line, column }));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &str) -> Result<Table> {
        read(text.as_bytes(), "t.csv", &Wanted::default())
    }

    fn names(table: &Table) -> Vec<&str> {
        table.columns.iter().map(|column| &column.name[..]).collect()
    }

    #[test]
    fn delimiters_and_headers_are_found_out() {
        for text in [
            "a,b\n1,2\n3,4\n",
            "a\tb\n1\t2\n3\t4",
            "a;b\r\n1;2\r\n3;4\r\n",
            "a|b\n1|2\n\n3|4\n",
            "\u{feff}a,b\n1,2\n3,4\n",
            "\"a\",\"b\"\n\"1\",2\n3,\"4\"\n",
            " a , b \n 1 , 2 \n 3 , 4 \n",
        ] {
            let table = read_all(text).unwrap();
            assert_eq!(
                (names(&table), &table.values[..]),
                (vec!["a", "b"], &[1.0, 2.0, 3.0, 4.0][..]),
                "{text}"
            );
        }
        let bare = read_all("1,2\n3,4\n").unwrap();
        assert_eq!((names(&bare), bare.n_rows()), (vec!["x1", "x2"], 2));
        let comma = read_all("a;b\n1,5;2\n3;4,25\n").unwrap();
        assert_eq!(comma.values, [1.5, 2.0, 3.0, 4.25]);
        let single = read_all("a\n1\n2\n").unwrap();
        assert_eq!((names(&single), single.n_rows()), (vec!["a"], 2));
    }

    #[test]
    fn quoted_fields_may_hold_delimiters_quotes_and_lines() {
        let table =
            read_all("\"a, or \"\"b\"\"\",c\n1,\"x,\ny\"\n2,\"say \"\"z\"\"\"\n3,\"x,\ny\"\n").unwrap();
        assert_eq!(names(&table), ["a, or \"b\"", "c"]);
        assert_eq!(table.columns[1].levels.as_deref().unwrap(), ["x,\ny", "say \"z\""]);
        assert_eq!(table.values, [1.0, 0.0, 2.0, 1.0, 3.0, 0.0]);
    }

    /// A block with a quotation mark is read in another way than one without.
    #[test]
    fn one_quotation_mark_changes_nothing_elsewhere() {
        for text in ["a,b\n1,x\n  \n\r\n2,\n3,p\rq\n\n4,\"z\"\n", "a,b\n1,x\n  \n\r\n2,\n3,p\rq\n\n4,z\n"] {
            let table = read_all(text).unwrap();
            assert_eq!(table.columns[1].levels.as_deref().unwrap(), ["x", "p\rq", "z"]);
            assert_eq!((table.n_rows(), table.missing_places()), (4, "line 5 ('b')".to_string()));
            let ragged = read_all(&format!("{text}\n\n5\n")).unwrap_err().to_string();
            assert!(ragged.starts_with("t.csv, line 11: 1 values"), "{ragged}");
        }
        // A delimiter of other files opens nothing here.
        assert_eq!(read_all("a,b\n1,x; \"y\n2,z\n").unwrap().n_rows(), 2);
        // Only at the very beginning is a byte order mark one.
        for text in ["a\n\u{feff}z\n\"y\"\n", "a\n\u{feff}z\ny\n"] {
            let levels = read_all(text).unwrap().columns[0].levels.clone();
            assert_eq!(levels.unwrap(), ["\u{feff}z", "y"]);
        }
        assert!(read_all("a,b\r1,2\r3,4\r").unwrap_err().to_string().contains("carriage return"));
        assert!(read_all(" \n\t\r\n ").unwrap_err().to_string().contains("is empty"));
        assert_eq!(read_all("  \n\na,b\n1,2\n").unwrap().values, [1.0, 2.0]);
    }

    #[test]
    fn bytes_that_are_not_text_are_one_level() {
        let table = read(&b"a\nx\n\xff\n\xfe\n"[..], "t.csv", &Wanted::default()).unwrap();
        assert_eq!(table.columns[0].levels.as_deref().unwrap(), ["x", "\u{fffd}"]);
        assert_eq!(table.values, [0.0, 1.0, 1.0]);
    }

    #[test]
    fn texts_become_levels_and_missing_values_are_remembered() {
        let table = read_all("a,b\n1,red\n,blue\n3,\n4,red\n").unwrap();
        assert_eq!(table.columns[1].levels.as_deref().unwrap(), ["red", "blue"]);
        assert_eq!(table.count_missing(), [1, 1]);
        assert_eq!(table.missing_places(), "line 3 ('a'), line 4 ('b')");
        let wanted = Wanted { text: vec!["a".into()], ..Wanted::default() };
        let codes = read("a\n7\n8\n7\n".as_bytes(), "t", &wanted).unwrap();
        assert_eq!((codes.columns[0].levels.as_deref().unwrap().len(), codes.values[2]), (2, 0.0));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let message = |text: &str| read_all(text).unwrap_err().to_string();
        assert_eq!(message("a,b\n1,2\n3\n"), "t.csv, line 3: 1 values where the header has 2 columns");
        assert!(message("a,b\n1,2\n3,4,5\n").contains("line 3: 3 values"));
        assert!(message("a,b\n1,2\n3,1e999\n").starts_with("t.csv, line 3, column 2 ('b'): '1e999'"));
        assert!(message("a,a\n1,2\n").contains("columns 1 and 2 are both named 'a'"));
        assert!(message("").contains("is empty"));
        assert!(message("a,b\n").contains("no rows"));
        let dates = message("day,b\n2024-01-05,2\n2024-01-06,3\n");
        assert!(dates.contains("line 2, column 1 ('day')") && dates.contains("date"), "{dates}");
        let many: String = (0..200).map(|i| format!("{i},id{i}\n")).collect();
        let many = message(&format!("a,b\n{many}"));
        assert!(many.contains("more than 100 different texts") && many.contains("--drop"), "{many}");
        // A text far below numbers is an error, not a category.
        let late: String =
            (0..3000).map(|i| format!("{i},{}\n", if i == 2500 { "oops" } else { "1" })).collect();
        let late = message(&format!("a,b\n{late}"));
        assert!(late.starts_with("t.csv, line 2502, column 2 ('b'): 'oops'"), "{late}");
        let open = message("a,b\n1,\"2\n3,4\n");
        assert_eq!(open, "t.csv: line 2: a quotation mark is opened and never closed");
        assert_eq!(read_all("a,b\n1,5\" pipe\n3,4\" pipe\n").unwrap().n_rows(), 2);
    }

    #[test]
    fn only_wanted_columns_are_looked_at() {
        let text = "day,a,b\n2024-01-05,2,x\n2024-01-06,3,y\n";
        let wanted = Wanted { except: vec!["day".into(), "b".into()], ..Wanted::default() };
        assert_eq!(read(text.as_bytes(), "t", &wanted).unwrap().values, [2.0, 3.0]);
        let wanted = Wanted { only: Some(vec!["b".into(), "a".into()]), ..Wanted::default() };
        let table = read(text.as_bytes(), "t", &wanted).unwrap();
        assert_eq!((names(&table), &table.values[..]), (vec!["b", "a"], &[0.0, 2.0, 1.0, 3.0][..]));
        let wanted = Wanted { numbers: vec!["b".into()], ..wanted };
        let message = read(text.as_bytes(), "t", &wanted).unwrap_err().to_string();
        assert!(message.contains("line 2, column 3 ('b')") && message.contains("numeric"), "{message}");
    }

    /// Blocks of a few bytes, so that every line ends one.
    #[test]
    fn blocks_do_not_show() {
        let rows: String = (0..50).map(|i| format!("{i},\"l{}\n\",{}\n", i % 7, -i)).collect();
        let text = format!("a,b,c\n{rows}");
        let whole = read_all(&text).unwrap();
        for size in [3, 8, 64] {
            let mut blocks = Blocks::of_size(text.as_bytes(), "t", size);
            let mut joined = Vec::new();
            let mut line = 1;
            while let Some(block) = blocks.next().unwrap() {
                assert_eq!(block.line, line);
                line += block.text.iter().filter(|b| **b == b'\n').count() as u64;
                joined.extend(block.text);
            }
            assert_eq!(joined, text.as_bytes());
        }
        assert_eq!((whole.n_rows(), whole.columns[1].levels.as_ref().unwrap().len()), (50, 7));
    }
}
