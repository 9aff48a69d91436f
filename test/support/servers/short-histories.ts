import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { pino } from 'pino';
import { firstFree } from '../../../src/platform/embedded/ports.js';
import { findTemporalBinary } from '../../../src/platform/embedded/temporal-binary.js';
import { until } from '../until.js';

/** A separate Temporal server. */
export interface OwnTemporal {
  address: string;
  stop(): Promise<void>;
}

/** Starts a Temporal server that suggests continue-as-new after `events` events, not 4,096. */
export async function startShortHistories(events: number): Promise<OwnTemporal> {
  const log = pino({ level: 'error' }, pino.destination(2));
  const binary = await findTemporalBinary(log, join(homedir(), '.cache', 'ratchet'));
  const port = await firstFree();
  const server = spawn(
    binary,
    [
      'server',
      'start-dev',
      '--headless',
      '--ip',
      '127.0.0.1',
      '--port',
      `${port}`,
      '--log-level',
      'never',
      '--dynamic-config-value',
      `limit.historyCount.suggestContinueAsNew=${events}`,
      '--dynamic-config-value',
      'history.transferProcessorMaxPollRPS=2000',
      '--dynamic-config-value',
      'history.timerProcessorMaxTimeShift="5ms"',
    ],
    { stdio: 'ignore' },
  );
  const kill = () => server.kill('SIGKILL');
  process.once('exit', kill);
  const address = `127.0.0.1:${port}`;
  await until('the Temporal server answers', async () => {
    const connection = await Connection.connect({ address });
    await connection.close();
    return true;
  });
  return {
    address,
    async stop() {
      process.removeListener('exit', kill);
      const gone = once(server, 'exit');
      kill();
      await gone;
    },
  };
}
