import { expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = resolve(__dirname, '../../../..');
const url = (path: string) => pathToFileURL(join(root, path)).href;

test.each(['UTC', 'America/New_York', 'Asia/Tokyo'])('an archive has the same time in %s', (TZ) => {
  const script = `import { entryDate } from '${url('src/platform/http/server/zip.ts')}'; console.log(entryDate.toISOString())`;
  const args = ['--import', url('scripts/ts-loader.mjs'), '--input-type=module', '-e', script];
  const printed = execFileSync(process.execPath, args, { env: { ...process.env, TZ }, encoding: 'utf8' });
  expect(printed).toBe('1980-01-01T00:00:00.000Z\n');
});
