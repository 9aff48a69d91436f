import { expect, test } from '@jest/globals';
import { statusWords } from '../../../src/core/jobs/status-words.js';
import type { Status } from '../../../src/core/jobs/status.js';

const nightly = { key_id: 'key_1', key_name: 'nightly' };
const first = { key_id: 'bootstrap_default', key_name: 'bootstrap' };

test.each<[Status, Parameters<typeof statusWords>[1], string]>([
  ['paused', { command: 'pause', by: nightly }, 'paused by key nightly'],
  ['paused', { command: 'pause', by: null }, 'paused in Temporal'],
  ['paused', { command: 'pause', by: first }, "paused by the service's first key"],
  ['cancelled', { command: 'cancel', by: nightly }, 'cancelled by key nightly'],
  ['cancelled', { command: 'cancel', by: null }, 'cancelled'],
  ['running', { command: 'resume', by: nightly }, 'running'],
  ['completed', { command: 'pause', by: nightly }, 'completed'],
  ['running', null, 'running'],
])('%s after %j', (status, last, text) => {
  expect(statusWords(status, last)).toBe(text);
});
