import { expect, test } from '@jest/globals';
import { endedByUs, outcomeOfTry } from '../../../src/models/client/try-outcome.js';

test.each([
  [200, null, { is: 'ok' }],
  [429, 'rate_limit_exceeded', { is: 'throttled', error: '429' }],
  [529, 'overloaded_error', { is: 'throttled', error: '529' }],
  // The account is empty: fewer calls do not help.
  [429, 'insufficient_quota', { is: 'failed', error: 'insufficient_quota' }],
  [401, 'invalid_api_key', { is: 'failed', error: 'invalid_api_key' }],
  [404, null, { is: 'failed', error: '404' }],
  [500, 'server_error', { is: 'failed', error: '500' }],
  [504, 'upstream_timeout', { is: 'failed', error: 'upstream_timeout' }],
  [null, 'upstream_connection_lost', { is: 'failed', error: 'upstream_connection_lost' }],
  [null, null, { is: 'failed', error: 'no_answer' }],
  [400, 'context_length_exceeded', { is: 'refused', error: '400' }],
  // Nobody asked the provider, or nobody waited for it.
  [429, 'spend_quota_exceeded', null],
  [502, 'provider_not_usable', null],
  [null, endedByUs, null],
])('%p with the code %p', (status, code, outcome) => {
  expect(outcomeOfTry(status, code)).toEqual(outcome);
});
