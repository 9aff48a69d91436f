import type { Socket } from 'node:net';
import { buildConnector } from 'undici';

/** Interim answers but 101, which changes the protocol. */
const interim = /^HTTP\/1\.1 1(?!01)\d\d/;
/** Bytes of an interim answer that are waited for. */
const maxHeld = 65_536;
const longest = 'HTTP/1.1 100'.length;
const end = '\r\n\r\n';

/**
 * Removes interim answers (1xx) from what a socket reads: undici breaks the connection at one
 * that it did not ask for, although a client must accept it (RFC 9110 15.2).
 */
function withoutContinue<S extends Socket>(socket: S): S {
  let isAwaited = true;
  let held = Buffer.alloc(0);
  const read = socket.read.bind(socket);
  const write = socket.write.bind(socket) as (...given: unknown[]) => boolean;
  socket.write = (...given: unknown[]) => {
    isAwaited = true;
    return write(...given);
  };
  socket.read = (size?: number) => {
    for (;;) {
      const part = read(size) as Buffer | null;
      if (part === null || !isAwaited) return part;
      held = Buffer.concat([held, part]);
      while (isInterim(held) && held.includes(end)) held = held.subarray(held.indexOf(end) + end.length);
      if ((isInterim(held) && held.length < maxHeld) || isBegun(held)) continue;
      const rest = held;
      held = Buffer.alloc(0);
      isAwaited = false;
      return rest;
    }
  };
  return socket;
}

const startOf = (bytes: Buffer) => bytes.toString('latin1', 0, longest);
const isInterim = (bytes: Buffer) => interim.test(startOf(bytes));
/** Whether the bytes are too few to tell. */
const isBegun = (bytes: Buffer) => bytes.length < longest && 'HTTP/1.1 1'.startsWith(startOf(bytes).slice(0, 10));

/** Connects as undici does; the sockets tolerate an unasked `100 Continue`. */
export function tolerantConnector(options: buildConnector.BuildOptions = {}): buildConnector.connector {
  return tolerant(buildConnector(options));
}

/** The same over another connector, such as that of a proxy. */
export function tolerant(connect: buildConnector.connector): buildConnector.connector {
  return (target, callback) =>
    connect(target, (...result) => {
      const [error, socket] = result;
      if (error === null) callback(null, withoutContinue(socket));
      else callback(error, null);
    });
}
