import { expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCommandLog } from '../../src/service/log.js';

test("the log of a command's service goes to a file once it is up", () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'ratchet-log-'));
  try {
    const { log, file, isUsed, toFile } = createCommandLog({ logLevel: 'error', dataDir });
    toFile();
    log.warn('below the level');
    expect(isUsed()).toBe(false);
    log.error({ err: new Error('no key') }, 'activity failed');
    expect(isUsed()).toBe(true);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      msg: 'activity failed',
      err: { message: 'no key' },
    });
  } finally {
    rmSync(dataDir, { recursive: true });
  }
});
