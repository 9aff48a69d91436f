import { expect, test } from '@jest/globals';
import { rolloutBody, type RolloutRequest } from '../../src/clients/container/request.js';
import { readRollout } from '../../src/container/request.js';
import type { Message } from '../../src/core/prompts/message.js';

const request = (messages: Message[], demos: RolloutRequest['demos']): RolloutRequest => ({
  url: 'http://127.0.0.1:9',
  apiKey: null,
  rolloutId: 'rol_1',
  seed: 1,
  envName: null,
  envConfig: {},
  messages,
  policy: { provider: 'local', model: 'local', params: {} },
  inferenceUrl: 'http://127.0.0.1:9',
  inferenceApiKey: 'k',
  tryTimeoutMs: 1_000,
  deadline: 0,
  ...(demos && { demos }),
});
const sectionsOf = (body: Record<string, unknown>) =>
  (body['policy'] as { config: { prompt_template: { sections: unknown[] } } }).config.prompt_template.sections;

test('a rollout’s sections include the demonstrations, which are not prompts of the container', () => {
  const messages: Message[] = [
    { role: 'system', content: 's' },
    { role: 'user', content: 'Question: {q}' },
  ];
  const body = rolloutBody(request(messages, [{ component: null, seed: 0, ordinal: 3, input: 'i', output: 'o' }]));
  expect(sectionsOf(body)).toEqual([
    { role: 'system', content: 's', order: 0 },
    { role: 'user', content: 'i', order: 1, demo: true },
    { role: 'assistant', content: 'o', order: 2, demo: true },
    { role: 'user', content: 'Question: {q}', order: 3 },
  ]);
  expect(readRollout(body)).toMatchObject({ systemPrompt: 's', prompts: { system: 's', user: 'Question: {q}' } });
  expect(Object.keys(readRollout(body).prompts)).toEqual(['system', 'user']);
  expect(sectionsOf(rolloutBody(request(messages, undefined)))).toEqual(
    messages.map((message, order) => ({ ...message, order })),
  );
});
