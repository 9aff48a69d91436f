import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import { ApiError } from '../../platform/http/server/errors.js';
import { overCapacity } from '../../platform/http/admission/gate.js';

/** The process holds too many bytes for another call, or for this one's answer. */
export class OverCapacityError extends ApiError {
  constructor() {
    const message = 'The service holds as many requests and answers as its memory allows; repeat the call.';
    super(503, overCapacity, message);
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

/** `bodyMs`: time limit of a request's body, whose bytes are held meanwhile. */
export function createBytesInFlight(maxBytes: number, { bodyMs = 20_000 } = {}): BytesInFlight {
  let held = 0;
  const calls = new WeakMap<FastifyRequest, HeldBytes>();
  const admit = (bytes: number): void => {
    if (held + bytes > maxBytes) throw new OverCapacityError();
  };

  function open(): HeldBytes {
    let own = 0;
    let keepers = 0;
    return {
      add(bytes) {
        admit(bytes);
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
        const declared = Number(request.headers['content-length'] ?? 0);
        // A longer body is refused unread.
        if (declared <= request.routeOptions.bodyLimit) admit(declared);
        const call = open();
        calls.set(request, call);
        // Until its last byte is sent, the reply holds the answer.
        reply.raw.once('close', call.keep());
        done();
      },
      preParsing(request: FastifyRequest, reply, payload, done) {
        const call = calls.get(request)!;
        const isUnread = Number(request.headers['content-length'] ?? 0) > request.routeOptions.bodyLimit;
        if (!isUnread) watch(payload as Readable, reply, (bytes) => call.add(bytes), bodyMs);
        done(null, payload);
      },
    },
    of: (request) => calls.get(request)!,
    held: () => held,
  };
}

/** Counts a body as it arrives. The body's reader gets the error of a refused or a late one. */
function watch(body: Readable, reply: FastifyReply, count: (bytes: number) => void, bodyMs: number): void {
  const end = () => {
    clearTimeout(timer);
    body.removeListener('data', take);
  };
  const refuse = (error: Error) => {
    end();
    // Without a reader the body is refused already.
    if (body.listenerCount('error') > 0) body.emit('error', error);
  };
  const take = (part: Buffer) => {
    try {
      count(part.length);
    } catch (error) {
      refuse(error as Error);
    }
  };
  const timer = setTimeout(() => refuse(tooSlow(bodyMs)), bodyMs);
  body.on('data', take);
  body.once('end', end);
  reply.raw.once('close', end);
}

function tooSlow(ms: number): ApiError {
  return new ApiError(
    408,
    'body_timeout',
    `The body did not arrive within ${ms / 1_000} s; send it faster or shorter.`,
  );
}
