import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promptText } from '../../src/cli/task/prompt-file.js';
import { ConfigError } from '../../src/service/config.js';
import type { Message } from '../../src/core/prompts/message.js';
import { readPrompt } from '../../src/cli/task/task.js';

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

describe('a file of JSON', () => {
  const messages: Message[] = [{ role: 'system', content: 'Classify.' }, input];
  const readText = async (name: string, text: string) => {
    await writeFile(join(folder, name), text);
    return readPrompt(join(folder, name));
  };

  test.each([
    ['list.json', messages],
    ['list.txt', messages],
    ['object.json', { messages }],
  ])('%s gives its messages', async (name, value) => {
    expect(await readText(name, JSON.stringify(value))).toEqual({ messages });
  });

  test.each(['[]', '{}', '3', 'null', '["x"]', '[{"role":"user"}]', '{"messages":[{"role":"tool","content":"x"}]}'])(
    '%s is refused',
    async (text) => {
      const reading = readText('prompt.json', text);
      await expect(reading).rejects.toBeInstanceOf(ConfigError);
      await expect(reading).rejects.toThrow(/prompt\.json.*messages/);
    },
  );

  test('a text that is a list of something else stays a text', async () => {
    expect(await readText('prompt.txt', '["a", "b"]')).toEqual({
      messages: [{ role: 'system', content: '["a", "b"]' }],
    });
  });
});
