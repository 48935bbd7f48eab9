//! Where bytes come from: a file, plain or compressed, or memory. Compression is recognized by the
//! first bytes, so that a wrong suffix does no harm; a file is streamed, never held whole.

use std::fs::File;
use std::io::{self, Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::{Progress, TableError};

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

pub(super) struct SourceBytes<'a> {
    reader: Box<dyn Read + Send + 'a>,
    path: PathBuf,
    compression: Option<&'static str>,
}

impl<'a> SourceBytes<'a> {
    pub(super) fn open(path: &Path, progress: &'a dyn Progress) -> Result<SourceBytes<'a>, TableError> {
        let (file, length) = open_file(path)?;
        SourceBytes::wrap(path, file, length, progress)
    }

    /// Any bytes; `path` stands for them in errors.
    pub(super) fn wrap(
        path: &Path,
        mut bytes: impl Read + Send + 'a,
        length: u64,
        progress: &'a dyn Progress,
    ) -> Result<SourceBytes<'a>, TableError> {
        progress.stage("read", Some(length));
        let mut magic = [0u8; 4];
        let known = read_full(&mut bytes, &mut magic).map_err(|error| TableError::io(path, error))?;
        let magic = &magic[..known];
        let compression = if magic.starts_with(&GZIP_MAGIC) {
            Some("gzip")
        } else if magic.starts_with(&ZSTD_MAGIC) {
            Some("zstd")
        } else {
            named_compression(path)
        };
        let whole = CountedBytes { inner: Cursor::new(magic.to_vec()).chain(bytes), progress };
        let reader: Box<dyn Read + Send + 'a> = match compression {
            None => Box::new(whole),
            Some(_) if known == 0 => Box::new(whole),
            Some("gzip") => Box::new(flate2::read::MultiGzDecoder::new(io::BufReader::with_capacity(1 << 17, whole))),
            Some(_) => Box::new(zstd::Decoder::new(whole).map_err(|error| TableError::io(path, error))?),
        };
        Ok(SourceBytes { reader, path: path.to_path_buf(), compression })
    }

    /// Reads until `buffer` is full or the source ends; how many bytes it was.
    pub(super) fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, TableError> {
        read_full(&mut self.reader, buffer).map_err(|error| self.explain(error))
    }

    /// The first `count` bytes, or all when there are fewer, without consuming them.
    pub(super) fn peek(mut self, count: usize) -> Result<(Vec<u8>, SourceBytes<'a>), TableError> {
        let mut begun = vec![0u8; count];
        let known = self.fill(&mut begun)?;
        begun.truncate(known);
        let reader = Box::new(Cursor::new(begun.clone()).chain(self.reader));
        Ok((begun, SourceBytes { reader, ..self }))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn explain(&self, error: io::Error) -> TableError {
        let Some(compression) = self.compression else {
            return TableError::io(&self.path, error);
        };
        let place = self.path.display().to_string();
        if error.raw_os_error().is_some() {
            TableError::io(&self.path, error)
        } else if error.kind() == ErrorKind::UnexpectedEof {
            TableError::input(
                place,
                format!("the {compression} data ends early"),
                "the file was cut off: fetch or compress it again",
            )
        } else {
            TableError::input(
                place,
                format!("not sound {compression} data ({error})"),
                "fetch or compress the file again, or mend its suffix",
            )
        }
    }
}

/// An existing file that is not a directory, and its length.
pub(super) fn open_file(path: &Path) -> Result<(File, u64), TableError> {
    let place = || path.display().to_string();
    let file = File::open(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => TableError::input(place(), "the file does not exist", "check the path and its spelling"),
        _ => TableError::io(path, error),
    })?;
    let metadata = file.metadata().map_err(|error| TableError::io(path, error))?;
    if metadata.is_dir() {
        return Err(TableError::input(place(), "is a directory, not a file", "name the file inside it"));
    }
    Ok((file, metadata.len()))
}

fn named_compression(path: &Path) -> Option<&'static str> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "gz" => Some("gzip"),
        "zst" | "zstd" => Some("zstd"),
        _ => None,
    }
}

fn read_full(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Reports to the listener what was read from the file itself, before decompression.
struct CountedBytes<'a, R> {
    inner: R,
    progress: &'a dyn Progress,
}

impl<R: Read> Read for CountedBytes<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.progress.advance(count as u64);
        Ok(count)
    }
}

const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// Steps over the mark that some programs put before UTF-8 text, and refuses text marked as UTF-16.
pub(super) fn skip_byte_order_mark(source: SourceBytes) -> Result<SourceBytes, TableError> {
    let (begun, mut source) = source.peek(UTF8_MARK.len())?;
    if begun.starts_with(b"\xff\xfe") || begun.starts_with(b"\xfe\xff") {
        return Err(TableError::input(
            format!("{}:1", source.path.display()),
            "the file is in UTF-16",
            "convert it, for example with: iconv -f UTF-16 -t UTF-8",
        ));
    }
    if begun == UTF8_MARK {
        source.fill(&mut [0; UTF8_MARK.len()])?;
    }
    Ok(source)
}
