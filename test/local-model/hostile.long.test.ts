import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

test('hostile requests end: nothing takes longer than in proportion to their length', () => {
  const loader = join(import.meta.dirname, '../../scripts/ts-loader.mjs');
  // In a process that can be ended; a quadratic step anywhere takes it minutes instead of seconds.
  // Seconds of the processor: how long it waits for one is up to whatever else runs here.
  const command = [process.execPath, '--import', loader, join(import.meta.dirname, 'hostile.ts')];
  const { status, stdout, stderr } = spawnSync('sh', ['-c', 'ulimit -t 40 && exec "$@"', 'sh', ...command], {
    encoding: 'utf8',
  });
  expect({ status, ended: stdout.trim().split('\n').at(-1), stderr }).toMatchObject({ status: 0, ended: 'all ended' });
});
