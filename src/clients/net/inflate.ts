import { Transform, pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, constants } from 'node:zlib';

const decoders: Record<string, () => Transform> = {
  gzip: () => createGunzip({ flush: constants.Z_SYNC_FLUSH }),
  'x-gzip': () => createGunzip({ flush: constants.Z_SYNC_FLUSH }),
  deflate: () => createInflate({ flush: constants.Z_SYNC_FLUSH }),
  br: () => createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH }),
};

/** The encodings of a header in the order in which they are undone. */
function encodingsOf(header: string | null): string[] {
  const names = (header ?? '').split(',').map((name) => name.trim().toLowerCase());
  return names.filter((name) => name !== '' && name !== 'identity').reverse();
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
    pipeline(from, decoders[name]!(), bounded, () => undefined);
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
