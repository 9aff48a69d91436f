import { expect, test } from '@jest/globals';
import { generatedPages } from './generate/index.js';
import { read } from './pages.js';

// What can be derived from source, OpenAPI document and benchmarks is written by `npm run docs`.

test.each(generatedPages())('$page is what npm run docs writes', ({ page, text }) => {
  expect(read(page)).toBe(text);
});
