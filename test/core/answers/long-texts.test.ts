import { expect, test } from '@jest/globals';
import { readPromptText } from '../../../src/core/answers/prompt-text.js';
import { heldMs, maxHeldMs } from '../../support/held.js';

// A small model may repeat a character until its last token.
const many = 200_000;
const repeated = ['\n', ' ', '\t', '-', '*', '`', '~', ':', '"', '{', '#', '\\', '0', '. ', '\n-', '\n#', '\n```'];
const beginnings = [
  '',
  'Here is the new instruction:',
  'New prompt',
  'Improved prompt:',
  '**Prompt:**',
  '```',
  '{"instruction": "Extract the price."',
  'Extract the price.\n---',
  'Extract the price.\n\nChanges',
  'Extract the price.\nNote:',
  'Extract the price.\n\nKey changes made',
];

test.each(beginnings)('a proposal that begins with %j and repeats itself is read in linear time', async (begin) => {
  const held = await heldMs(async () => {
    for (const one of repeated) {
      readPromptText(`${begin}${one.repeat(many / one.length)}x`, 'Extract the price.');
      await new Promise(setImmediate);
    }
  });
  expect(held).toBeLessThan(maxHeldMs);
});
