/** Helper of temporal-binary.long.test.ts: reports the Temporal binary of a cache directory. */
import { pino } from 'pino';
import { findTemporalBinary } from '../../../src/platform/embedded/temporal-binary.js';

const said: string[] = [];
const log = pino({ level: 'info' }, { write: (line) => void said.push((JSON.parse(line) as { msg: string }).msg) });
const answer = await findTemporalBinary(log, process.argv[2]!).then(
  (binary) => ({ binary }),
  (error: Error) => ({ error: error.message, name: error.name }),
);
console.log(JSON.stringify({ ...answer, said }));
