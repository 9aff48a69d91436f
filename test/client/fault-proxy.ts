import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from '../support/loopback.js';

/**
 * What happens to a request. `refuse`: 503 without asking the service. `reset`: the connection is
 * cut before the service is asked. `lose`: the service answers, but the caller does not hear it.
 * `cut`: the connection is cut after this many bytes of the answer. `stall`: it stays, silent.
 */
export type Fault = 'refuse' | 'reset' | 'lose' | { cut: number } | { stall: number };

/** A proxy in front of the service, whose requests meet the planned faults, one each. */
export interface FaultProxy {
  url: string;
  requests: { method: string; path: string; headers: IncomingMessage['headers'] }[];
  /** Faults of the next requests; later ones meet none. */
  plan(faults: readonly Fault[]): void;
  /** Connections to the service that are open. */
  open(): number;
  close(): Promise<void>;
}

export async function startFaultProxy(target: () => string): Promise<FaultProxy> {
  let planned: Fault[] = [];
  let open = 0;
  const requests: FaultProxy['requests'] = [];

  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    requests.push({ method, path: url, headers });
    const fault = planned.shift();
    if (fault === 'reset') return void request.socket.destroy();
    if (fault === 'refuse') return void response.writeHead(503, { 'retry-after': '0' }).end('{"code":"draining"}');
    open += 1;
    const onward = send(target() + url, { method, headers }, (answer) => pass(answer, response, fault));
    onward.on('close', () => (open -= 1)).on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });

  function pass(answer: IncomingMessage, response: ServerResponse, fault: Fault | undefined): void {
    answer.on('error', () => response.destroy());
    if (fault === 'lose') return void answer.on('end', () => response.destroy()).resume();
    response.writeHead(answer.statusCode!, answer.headers).flushHeaders();
    if (typeof fault !== 'object') return void answer.pipe(response);
    let left = 'cut' in fault ? fault.cut : fault.stall;
    const end = () => 'cut' in fault && response.destroy();
    if (left === 0) end();
    answer.on('data', (piece: Buffer) => {
      if (left === 0) return;
      const sent = piece.subarray(0, left);
      left -= sent.length;
      response.write(sent, () => left === 0 && end());
    });
    answer.on('end', () => left > 0 && response.end());
  }

  const { url, close } = await listen(server);
  return { url, requests, plan: (faults) => (planned = [...faults]), open: () => open, close };
}
