//! Files that are there whole or not at all.

use std::io::{BufWriter, ErrorKind, Write};
use std::path::Path;
use std::sync::{PoisonError, RwLock, RwLockWriteGuard};

use crate::error::{Error, Result};

/// Held for reading by whoever writes a file.
static WRITING: RwLock<()> = RwLock::new(());

/// Waits for the files that are being written; while the guard lives, none is begun. For a program about to end
/// without returning, which would leave temporary files behind.
pub fn hold_writes() -> RwLockWriteGuard<'static, ()> {
    WRITING.write().unwrap_or_else(PoisonError::into_inner)
}

/// The folder that a file is in.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// An error if there is no folder for a file, before hours of work have gone into it.
///
/// # Errors
/// When the folder does not exist, or there is a folder of that name.
pub fn check_place(path: &Path) -> Result<()> {
    let refuse = |kind: ErrorKind, why: String| {
        Err(Error::Io { action: "write", path: path.into(), source: std::io::Error::new(kind, why) })
    };
    if path.is_dir() {
        return refuse(ErrorKind::IsADirectory, "it is a folder".into());
    }
    match folder(path) {
        folder if folder.is_dir() => Ok(()),
        folder => refuse(ErrorKind::NotFound, format!("there is no folder {}", folder.display())),
    }
}

/// Writes a file under a temporary name in the same folder, then renames it.
///
/// # Errors
/// When the folder or the file cannot be written; what was at `path` is then still there.
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<()> {
    let attempt = || -> std::io::Result<()> {
        let _writing = WRITING.read().unwrap_or_else(PoisonError::into_inner);
        let folder = folder(path);
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            // A temporary file is private by default; a result should be as readable as any other.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        // The name of the temporary file means nothing to anybody.
        let file = builder.prefix(".smave-").tempfile_in(folder).map_err(|error| error.kind())?;
        let mut out = BufWriter::new(file);
        write(&mut out)?;
        let file = out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    attempt().map_err(|source| Error::Io { action: "write", path: path.into(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_there_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_atomically(&path, |out| out.write_all(b"first")).unwrap();
        let failed = write_atomically(&path, |out| {
            out.write_all(b"second")?;
            Err(ErrorKind::Other.into())
        });
        assert!(failed.is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn places_are_checked() {
        let folder = tempfile::tempdir().unwrap();
        assert!(check_place(&folder.path().join("a.txt")).is_ok() && check_place(Path::new("a.txt")).is_ok());
        let message = |path: &Path| check_place(path).unwrap_err().to_string();
        assert!(message(folder.path()).contains("it is a folder"));
        assert!(message(&folder.path().join("b/c.txt")).contains("there is no folder"));
    }
}
