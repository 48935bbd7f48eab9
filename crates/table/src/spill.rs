//! Private temporary files for what does not fit in memory.
//!
//! Such a file can be read by its owner alone, and loses its name as soon as it is open: however
//! the process ends, nothing stays behind and no process can open it again.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::{Codes, TableError};

/// Codes are held in memory up to this share of what a run may take. The rest is for what is made
/// of them: their order, the frequency sets of a search, the release that is read back.
const HELD_SHARE: u64 = 16;
const HELD_SHARE_MORE: u64 = 4;
const HELD_SHARE_LESS: u64 = 40;

/// A run that may take less than this does with less room, and takes longer.
pub const SHORT_OF_MEMORY: u64 = 512 << 20;

/// Where a run may spill, and how much memory it may take.
#[derive(Debug, Clone)]
pub struct Spill {
    folder: PathBuf,
    memory: u64,
    /// Bytes of codes that stay in memory.
    held_max: u64,
    /// One in this many bytes of the memory of the run is for them.
    share: u64,
    /// In tests: the size of the disk.
    disk_bytes_max: Option<u64>,
    /// By all files together.
    written: Arc<AtomicU64>,
}

impl Spill {
    /// Into files in a folder; `memory` is what the whole run may take, in bytes.
    pub fn new(folder: &Path, memory: u64) -> Spill {
        let (folder, held_max) = (folder.to_path_buf(), memory / HELD_SHARE);
        Spill { folder, memory, held_max, share: HELD_SHARE, disk_bytes_max: None, written: Arc::default() }
    }

    /// For work that needs all codes in memory: they go to the disk later.
    pub fn holding_more(self) -> Spill {
        self.holding(HELD_SHARE_MORE)
    }

    /// For work that makes much more of codes than they take: they go to the disk sooner.
    pub fn holding_less(self) -> Spill {
        self.holding(HELD_SHARE_LESS)
    }

    fn holding(self, share: u64) -> Spill {
        Spill { held_max: self.memory / share, share, ..self }
    }

    /// Sets how many bytes of codes stay in memory.
    pub fn with_held(self, bytes: u64) -> Spill {
        Spill { held_max: bytes, ..self }
    }

    /// As on a disk with this much space.
    pub fn with_disk(self, bytes: u64) -> Spill {
        Spill { disk_bytes_max: Some(bytes), ..self }
    }

    /// A new file, which appears on the disk when something is first put into it.
    pub fn file(&self) -> SpillFile {
        SpillFile { spill: self.clone(), opened: Mutex::new(None), held: AtomicU64::new(0) }
    }

    /// The limit of the whole run, in bytes.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// Bytes of codes that stay in memory.
    pub fn held_max(&self) -> u64 {
        self.held_max
    }

    /// One in this many bytes of a run's memory is for codes that stay there.
    pub fn held_share(&self) -> u64 {
        self.share
    }

    /// Bytes that were put into files so far.
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }
}

/// One file without a name.
#[derive(Debug)]
pub struct SpillFile {
    spill: Spill,
    opened: Mutex<Option<OpenedSpill>>,
    /// Bytes of codes that stayed in memory.
    held: AtomicU64,
}

#[derive(Debug)]
struct OpenedSpill {
    file: File,
    end: u64,
    /// Where a file that is open cannot lose its name.
    to_remove: Option<PathBuf>,
}

impl Drop for OpenedSpill {
    fn drop(&mut self) {
        if let Some(path) = &self.to_remove {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl SpillFile {
    /// The limit of the whole run, in bytes.
    pub fn memory(&self) -> u64 {
        self.spill.memory
    }

    /// Whether anything was put into the file.
    pub fn is_used(&self) -> bool {
        self.lock().is_some()
    }

    /// Puts bytes at the end; returns where they are.
    pub fn append(&self, bytes: &[u8]) -> Result<u64, TableError> {
        let mut opened = self.lock();
        let failed = |error| TableError::io(&self.spill.folder, error);
        if opened.is_none() {
            *opened = Some(open(&self.spill.folder).map_err(failed)?);
        }
        let opened = opened.as_mut().ok_or_else(|| TableError::Internal("a file was not opened".to_owned()))?;
        let written = self.spill.written.fetch_add(bytes.len() as u64, Ordering::Relaxed) + bytes.len() as u64;
        if self.spill.disk_bytes_max.is_some_and(|most| written > most) {
            return Err(failed(ErrorKind::StorageFull.into()));
        }
        opened.file.seek(SeekFrom::Start(opened.end)).map_err(failed)?;
        opened.file.write_all(bytes).map_err(failed)?;
        let offset = opened.end;
        opened.end += bytes.len() as u64;
        Ok(offset)
    }

    /// Reads bytes that were put at `offset`.
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<(), TableError> {
        let mut opened = self.lock();
        let opened = opened.as_mut().ok_or_else(|| TableError::Internal("a file that was never written".to_owned()))?;
        let failed = |error| TableError::io(&self.spill.folder, error);
        opened.file.seek(SeekFrom::Start(offset)).map_err(failed)?;
        opened.file.read_exact(bytes).map_err(failed)
    }

    /// Codes on the disk.
    pub fn append_codes(&self, codes: &Codes) -> Result<Span, TableError> {
        let offset = self.append(&codes.to_bytes())?;
        Ok(Span { offset, rows: codes.len(), width: codes.width() })
    }

    /// Codes in memory while there is space, else on the disk.
    pub(crate) fn keep(&self, codes: Codes) -> Result<Kept, TableError> {
        let bytes = codes.bytes() as u64;
        let held = self.held.fetch_add(bytes, Ordering::Relaxed);
        if held + bytes <= self.spill.held_max {
            return Ok(Kept::Memory(codes));
        }
        self.held.fetch_sub(bytes, Ordering::Relaxed);
        Ok(Kept::Disk(self.append_codes(&codes)?))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<OpenedSpill>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Codes that lie in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    offset: u64,
    rows: usize,
    /// Bytes of a code.
    width: usize,
}

impl Span {
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Some of the codes.
    pub fn read(&self, file: &SpillFile, rows: std::ops::Range<usize>) -> Result<Codes, TableError> {
        let mut bytes = vec![0u8; rows.len() * self.width];
        file.read(self.offset + (rows.start * self.width) as u64, &mut bytes)?;
        Ok(Codes::from_bytes(self.width, bytes))
    }
}

/// Codes wherever they are.
#[derive(Debug)]
pub(crate) enum Kept {
    Memory(Codes),
    Disk(Span),
}

impl Kept {
    /// Some of the codes; `file` is where those on the disk lie.
    pub(crate) fn load(&self, file: Option<&SpillFile>, rows: std::ops::Range<usize>) -> Result<Codes, TableError> {
        match (self, file) {
            (Kept::Memory(codes), _) => Ok(codes.slice(rows)),
            (Kept::Disk(span), Some(file)) => span.read(file, rows),
            (Kept::Disk(_), None) => Err(TableError::Internal("codes on a disk without a spill folder".to_owned())),
        }
    }
}

/// A new file that only this process can open.
fn open(folder: &Path) -> io::Result<OpenedSpill> {
    const TRIES: u32 = 1000;
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    for _ in 0..TRIES {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!(".hedgerow-{}-{number}.tmp", std::process::id()));
        match options.open(&path) {
            Ok(file) => {
                let to_remove = std::fs::remove_file(&path).is_err().then_some(path);
                return Ok(OpenedSpill { file, end: 0, to_remove });
            }
            // Left by a process that had the same number.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spilled_bytes_read_back_and_the_file_has_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = Spill::new(folder.path(), 160).file();
        assert!(!file.is_used());
        // Ten bytes may stay in memory.
        let kept = [Codes::U8(vec![1, 2, 3]), Codes::U16(vec![300, 2, 65_535]), Codes::U32(vec![7, 1 << 31])];
        let stored: Vec<Kept> = kept.iter().map(|codes| file.keep(codes.clone()).unwrap()).collect();
        assert!(matches!(stored[..], [Kept::Memory(_), Kept::Memory(_), Kept::Disk(_)]), "{stored:?}");
        for (codes, stored) in kept.iter().zip(&stored) {
            for from in 0..codes.len() {
                for to in from..=codes.len() {
                    assert_eq!(stored.load(Some(&file), from..to).unwrap(), codes.slice(from..to));
                }
            }
        }
        assert_eq!(file.spill.written(), 8);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "a file has a name");
    }

    #[test]
    fn a_full_disk_is_an_error_of_the_machine() {
        let folder = tempfile::tempdir().unwrap();
        let file = Spill::new(folder.path(), 0).with_disk(4).file();
        file.append(&[0; 4]).unwrap();
        let error = file.append(&[0]).unwrap_err();
        assert!(matches!(&error, TableError::Io { source, .. } if source.kind() == ErrorKind::StorageFull), "{error}");
        let gone = Spill::new(&folder.path().join("none"), 0).file();
        assert!(matches!(gone.append(&[0]), Err(TableError::Io { .. })));
    }
}
