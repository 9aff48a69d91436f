import { expect, test } from '@jest/globals';
import { modelFamily } from '../../../src/core/jobs/model-family.js';

test.each([
  ['gpt-4o-mini', 'gpt'],
  ['openai/o3-mini', 'gpt'],
  ['chatgpt-4o-latest', 'gpt'],
  ['anthropic/claude-3.5-sonnet', 'claude'],
  ['Qwen/Qwen2.5-Coder-1.5B-Instruct', 'qwen'],
  ['meta-llama/Llama-3.3-70B-Instruct', 'llama'],
  ['mixtral-8x7b', 'mistral'],
  ['gemini-2.5-flash', 'gemini'],
  ['1.5b', null],
])('%s', (model, family) => {
  expect(modelFamily(model)).toBe(family);
});
