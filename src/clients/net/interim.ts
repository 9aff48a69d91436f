import type { Socket } from 'node:net';
import { buildConnector } from 'undici';

const start = Buffer.from('HTTP/1.1 100');
const end = '\r\n\r\n';

/**
 * Removes `100 Continue` answers from what a socket reads. A client must accept them unasked (RFC
 * 9110 15.2), but undici breaks the connection.
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
      while (held.subarray(0, start.length).equals(start) && held.includes(end)) {
        held = held.subarray(held.indexOf(end) + end.length);
      }
      const isUndecided = start.subarray(0, held.length).equals(held.subarray(0, start.length));
      if (isUndecided) continue;
      const rest = held;
      held = Buffer.alloc(0);
      isAwaited = false;
      return rest;
    }
  };
  return socket;
}

/** Connects as undici does; the sockets tolerate an unasked `100 Continue`. */
export function tolerantConnector(options: buildConnector.BuildOptions = {}): buildConnector.connector {
  const connect = buildConnector(options);
  return (target, callback) =>
    connect(target, (...result) => {
      const [error, socket] = result;
      if (error === null) callback(null, withoutContinue(socket));
      else callback(error, null);
    });
}
