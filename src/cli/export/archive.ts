/** The traces of a job in its archive, which can be larger than the memory. */
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { openPromise } from 'yauzl';
import type { Trace } from '../../client/index.js';

/** Reads the traces one by one from a ZIP, which is kept in a temporary file meanwhile. */
export async function* tracesIn(zip: Readable): AsyncGenerator<Trace> {
  const folder = await mkdtemp(join(tmpdir(), 'ratchet-traces-'));
  try {
    const path = join(folder, 'traces.zip');
    await pipeline(zip, createWriteStream(path));
    const file = await openPromise(path, { lazyEntries: true });
    for await (const entry of file.eachEntry()) {
      if (entry.fileName.startsWith('otlp/')) continue;
      yield JSON.parse(await text(await file.openReadStreamPromise(entry))) as Trace;
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}
