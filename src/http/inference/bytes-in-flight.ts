import { pipeline, Transform, type Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import { ApiError } from '../server/errors.js';

/** The process holds too many bytes for another call, or for this one's answer. */
export class OverCapacityError extends ApiError {
  constructor() {
    const message = 'The service holds as many requests and answers as its memory allows; repeat the call.';
    super(503, 'over_capacity', message, { headers: { 'retry-after': '1' } });
  }
}

/** The bytes of one call: its request and the received part of the response. */
export interface HeldBytes {
  /** Throws an OverCapacityError if the process would hold too many. */
  add(bytes: number): void;
  /** Keeps the bytes until the result is called. */
  keep(): () => void;
}

/** The bound of the bytes that all calls of a process hold. */
export interface BytesInFlight {
  /** Hooks of a route that admit calls by the size of their request. */
  hooks: Pick<RouteShorthandOptions, 'onRequest' | 'preParsing'>;
  /** The bytes of an admitted call. */
  of(request: FastifyRequest): HeldBytes;
  /** Bytes held now. */
  held(): number;
}

export function createBytesInFlight(maxBytes: number): BytesInFlight {
  let held = 0;
  const calls = new WeakMap<FastifyRequest, HeldBytes>();

  function open(): HeldBytes {
    let own = 0;
    let keepers = 0;
    return {
      add(bytes) {
        if (held + bytes > maxBytes) throw new OverCapacityError();
        held += bytes;
        own += bytes;
      },
      keep() {
        keepers += 1;
        return () => {
          keepers -= 1;
          if (keepers > 0) return;
          held -= own;
          own = 0;
        };
      },
    };
  }

  return {
    hooks: {
      onRequest(request: FastifyRequest, reply: FastifyReply, done) {
        const call = open();
        calls.set(request, call);
        const declared = Number(request.headers['content-length'] ?? 0);
        // A longer body is refused unread.
        if (declared <= request.routeOptions.bodyLimit) call.add(declared);
        // Until its last byte is sent, the reply holds the answer.
        reply.raw.once('close', call.keep());
        done();
      },
      preParsing(request: FastifyRequest, _reply, payload, done) {
        const isCounted = request.headers['content-length'] !== undefined;
        done(null, isCounted ? payload : counted(payload as Readable, calls.get(request)!));
      },
    },
    of: (request) => calls.get(request)!,
    held: () => held,
  };
}

/** A body of unknown size, counted as it arrives. */
function counted(payload: Readable, call: HeldBytes): Readable {
  const count = new Transform({
    transform(part: Buffer, _encoding, done) {
      try {
        call.add(part.length);
        done(null, part);
      } catch (error) {
        done(error as Error);
      }
    },
  });
  // The reader of the result gets the error.
  return pipeline(payload, count, () => undefined);
}
