import { PassThrough, Readable, Transform, pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, constants } from 'node:zlib';

const flush = { flush: constants.Z_SYNC_FLUSH };

/** Encodings, and the decoder by the first bytes: some send `deflate` without its header. */
const decoders: Record<string, (start: Buffer) => Transform> = {
  gzip: ungzip,
  'x-gzip': ungzip,
  deflate: ([first = 0, second = 0]) => {
    if ((first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0) return createInflate(flush);
    return isText(first) ? new PassThrough() : createInflateRaw(flush);
  },
  br: () => createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH }),
};

/** Some name gzip and send none. */
function ungzip([first, second]: Buffer): Transform {
  return first === 0x1f && second === 0x8b ? createGunzip(flush) : new PassThrough();
}

/** Whether a body begins as JSON or an event does. */
const isText = (first: number) => '{[d:'.includes(String.fromCharCode(first));

/** Names of no encoding. */
const plain = new Set(['', 'identity', 'none', 'utf-8', 'utf8']);

/** The encodings of a header in the order in which they are undone. */
function encodingsOf(header: string | null): string[] {
  const names = (header ?? '').split(',').map((name) => name.trim().toLowerCase());
  return names.filter((name) => !plain.has(name)).reverse();
}

/** An encoding that cannot be undone; null: all can. */
export function unknownEncoding(header: string | null): string | null {
  return encodingsOf(header).find((name) => !Object.hasOwn(decoders, name)) ?? null;
}

/**
 * A body without its content-encoding, bounded by `maxBytes`: a small body can expand hugely. The
 * encodings are known ones.
 */
export function inflated(body: Readable, header: string | null, maxBytes: number): Readable {
  return encodingsOf(header).reduce<Readable>((from, name) => {
    const bounded = bound(maxBytes);
    // The reader of `bounded` gets the error.
    pipeline(from, decoded(decoders[name]!), bounded, () => undefined);
    return bounded;
  }, body);
}

function bound(maxBytes: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(part: Buffer, _encoding, done) {
      bytes += part.length;
      if (bytes <= maxBytes) return done(null, part);
      const code = 'UND_ERR_RES_EXCEEDED_MAX_SIZE';
      done(Object.assign(new Error('The inflated body is larger than the limit.'), { code }));
    },
  });
}

/** Decodes by the decoder that the first two bytes choose. */
function decoded(choose: (start: Buffer) => Transform): (source: AsyncIterable<Buffer>) => AsyncIterable<Buffer> {
  return async function* (source) {
    const parts = source[Symbol.asyncIterator]();
    let start: Buffer = Buffer.alloc(0);
    for (let next = await parts.next(); !next.done; next = await parts.next()) {
      start = Buffer.concat([start, next.value]);
      if (start.length > 1) break;
    }
    const all = (async function* () {
      yield start;
      yield* { [Symbol.asyncIterator]: () => parts };
    })();
    const decoder = choose(start);
    // The reader of `decoder` gets the error.
    pipeline(Readable.from(all), decoder, () => undefined);
    yield* decoder as AsyncIterable<Buffer>;
  };
}
