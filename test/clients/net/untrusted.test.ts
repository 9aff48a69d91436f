import { expect, test } from '@jest/globals';
import { cutErrorText, hideKeys } from '../../../src/clients/net/untrusted.js';

test.each([
  ['bad key sk-abc', 'bad key …'],
  ['Incorrect API key provided: sk-proj-ab12****wxyz.', 'Incorrect API key provided: …'],
  ['{"message":"key gsk_1234abcd is invalid"}', '{"message":"key … is invalid"}'],
  ['API key AIzaSyA-1234567890 not valid', 'API key … not valid'],
  ['sent Authorization: Bearer abc.def-123, refused', 'sent Authorization: Bearer …, refused'],
  ['a task about skills and the Bearer', 'a task about skills and the Bearer'],
])('keys are hidden: %s', (text, hidden) => {
  expect(hideKeys(text)).toBe(hidden);
  expect(cutErrorText(text)).toBe(hidden);
});
