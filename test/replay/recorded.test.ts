import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { History } from '../support/chain.js';
import { replay } from './replay-history.js';

// Histories of released versions; there are none before the first tag.

const folder = join(__dirname, 'histories');
const recorded = readdirSync(folder).filter((name) => name.endsWith('.json'));

test('the current workflow code replays the histories of released versions', async () => {
  for (const name of recorded) await replay(JSON.parse(readFileSync(join(folder, name), 'utf8')) as History);
  expect(readdirSync(folder)).toContain('README.md');
});
