import { appendFileSync, readFileSync } from 'node:fs';
import { createServer, request as forward } from 'node:http';
import { listen } from '../loopback.js';

/** One event of a rollout at the container; `at` is its position in the ledger. */
export interface LedgerLine {
  at: number;
  what: 'in' | 'out' | 'gone';
  rollout: string;
  seed: number;
  inFlight: number;
}

/** A proxy in front of a container that logs the start and end of every rollout to a file. */
export async function startLedger(containerUrl: string, file: string) {
  let inFlight = 0;
  const note = (what: LedgerLine['what'], rollout: string, seed: number) =>
    appendFileSync(file, `${JSON.stringify({ what, rollout, seed, inFlight })}\n`);
  const server = createServer((incoming, answer) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = Buffer.concat(chunks);
      const isRollout = incoming.url === '/rollout';
      const rollout = isRollout
        ? (JSON.parse(body.toString()) as { rollout_id: string; env: { seed: number } })
        : { rollout_id: '', env: { seed: 0 } };
      let open = isRollout;
      const leave = (what: 'out' | 'gone') => {
        if (!open) return;
        open = false;
        inFlight -= 1;
        note(what, rollout.rollout_id, rollout.env.seed);
      };
      if (isRollout) {
        inFlight += 1;
        note('in', rollout.rollout_id, rollout.env.seed);
      }
      const target = new URL(incoming.url ?? '/', containerUrl);
      const passed = forward(
        target,
        { method: incoming.method, headers: { ...incoming.headers, host: target.host } },
        (from) => {
          answer.writeHead(from.statusCode ?? 502, from.headers);
          from.pipe(answer);
          from.on('end', () => leave('out'));
        },
      );
      passed.on('error', () => answer.destroy());
      answer.on('close', () => {
        leave('gone');
        passed.destroy();
      });
      passed.end(body);
    });
  });
  const { url, close } = await listen(server);
  return {
    url,
    lines(): LedgerLine[] {
      return readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line, at) => ({ at, ...(JSON.parse(line) as Omit<LedgerLine, 'at'>) }));
    },
    close,
  };
}
