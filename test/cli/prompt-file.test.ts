import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promptText } from '../../src/cli/prompt-file.js';
import type { Message } from '../../src/core/jobs/spec.js';
import { readPrompt } from '../../src/cli/task.js';

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'ratchet-prompt-'))));
afterAll(() => rm(folder, { recursive: true }));

const input: Message = { role: 'user', content: '{{input}}' };

test.each<[Message[]]>([
  [[{ role: 'system', content: 'Use {{context}}.' }, input]],
  [
    [
      { role: 'system', content: 'Classify.' },
      { role: 'user', content: '{{ text }}' },
    ],
  ],
  [[{ role: 'user', content: 'Classify.' }]],
  [[{ role: 'user', content: 'Classify {{text}}.' }]],
  [[input, { role: 'system', content: 'Classify.' }]],
])('the file of a prompt gives the same prompt: %j', async (messages) => {
  const path = join(folder, 'prompt.txt');
  await writeFile(path, promptText({ messages }, path));
  expect(await readPrompt(path)).toEqual({ messages });
});

test("the row's input is left out where it follows anyway", () => {
  const messages: Message[] = [{ role: 'system', content: 'Classify.' }, input];
  expect(promptText({ messages }, 'prompt.txt')).toBe('Classify.\n');
});
