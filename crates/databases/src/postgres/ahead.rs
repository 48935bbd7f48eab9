//! Reading ahead: one thread receives what the server sends while another one codes it.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Scope;

/// Bytes that are handed over at once.
const CHUNK: usize = 64 << 10;
/// Chunks that wait at most.
const CHUNKS: usize = 16;

/// A stream that another thread reads.
pub(super) struct ReadAhead {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    start: usize,
}

impl ReadAhead {
    /// The thread ends with the stream, with its first error, or when the receiver is dropped.
    pub(super) fn new<'scope>(
        scope: &'scope Scope<'scope, '_>,
        stream: impl BufRead + Send + 'scope,
    ) -> io::Result<ReadAhead> {
        let (sender, chunks) = sync_channel(CHUNKS);
        std::thread::Builder::new().spawn_scoped(scope, move || send(stream, &sender))?;
        Ok(ReadAhead { chunks, chunk: Vec::new(), start: 0 })
    }
}

fn send(mut stream: impl BufRead, chunks: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut chunk = Vec::with_capacity(CHUNK);
        let outcome = fill(&mut stream, &mut chunk);
        let is_last = !matches!(outcome, Ok(true));
        if !chunk.is_empty() && chunks.send(Ok(chunk)).is_err() {
            return;
        }
        if let Err(error) = outcome {
            let _ = chunks.send(Err(error));
        }
        if is_last {
            return;
        }
    }
}

/// `false` at the end of the stream. What is there when a read fails stays in the chunk.
fn fill(stream: &mut impl BufRead, chunk: &mut Vec<u8>) -> io::Result<bool> {
    while chunk.len() < CHUNK {
        let more = stream.fill_buf()?;
        if more.is_empty() {
            return Ok(false);
        }
        let bytes = more.len().min(CHUNK - chunk.len());
        chunk.extend_from_slice(&more[..bytes]);
        stream.consume(bytes);
    }
    Ok(true)
}

impl BufRead for ReadAhead {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start == self.chunk.len() {
            // The sender is gone: the stream has ended.
            self.chunk = self.chunks.recv().unwrap_or(Ok(Vec::new()))?;
            self.start = 0;
        }
        Ok(&self.chunk[self.start..])
    }

    fn consume(&mut self, bytes: usize) {
        self.start += bytes;
    }
}

impl Read for ReadAhead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.fill_buf()?.read(buffer)?;
        self.consume(bytes);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails after its bytes.
    struct Broken<'a>(&'a [u8]);

    impl Read for Broken<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.read(buffer)
        }
    }

    impl BufRead for Broken<'_> {
        fn fill_buf(&mut self) -> io::Result<&[u8]> {
            if self.0.is_empty() { Err(io::Error::other("cut off")) } else { Ok(self.0) }
        }

        fn consume(&mut self, bytes: usize) {
            self.0.consume(bytes);
        }
    }

    #[test]
    fn everything_arrives_in_order_and_so_does_an_error() {
        for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 40 * CHUNK + 7] {
            let bytes: Vec<u8> = (0..length).map(|index| (index % 251) as u8).collect();
            std::thread::scope(|scope| {
                let mut found = Vec::new();
                ReadAhead::new(scope, &bytes[..]).unwrap().read_to_end(&mut found).unwrap();
                assert!(found == bytes, "{length}");
                let mut found = Vec::new();
                let outcome = ReadAhead::new(scope, Broken(&bytes)).unwrap().read_to_end(&mut found);
                assert_eq!(outcome.unwrap_err().to_string(), "cut off");
                assert!(found == bytes, "{length}");
            });
        }
    }

    #[test]
    fn the_thread_ends_when_the_receiver_is_dropped() {
        std::thread::scope(|scope| drop(ReadAhead::new(scope, io::BufReader::new(io::repeat(7))).unwrap()));
    }
}
