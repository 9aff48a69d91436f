// Loaded before the gateway, which would listen on all addresses.
import { Server } from 'node:net';

const { listen } = Server.prototype;
Server.prototype.listen = function listenOnLoopback(port, host, ...rest) {
  return typeof port === 'number'
    ? listen.call(this, port, host ?? '127.0.0.1', ...rest)
    : listen.call(this, port, host, ...rest);
};
