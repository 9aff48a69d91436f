import { expect, test } from '@jest/globals';
import { callFailure, refusalOf } from '../../../src/models/client/call-failure.js';

const failureOf = (error: object, status = 429) =>
  callFailure({ provider: 'openai', model: 'm', ...refusalOf({ status, text: JSON.stringify({ error }) }) });

test('a spent quota at the provider is final for the account, and does not advise fewer calls at once', () => {
  const spent = { message: 'You exceeded your current quota.', code: 'insufficient_quota' };
  for (const error of [spent, { message: 'No credit.', type: 'insufficient_quota' }]) {
    expect(failureOf(error)).toMatchObject({ code: 'provider_refused_account', systemic: true, isOfAccount: true });
    expect(failureOf(error).message).not.toContain('max_concurrent');
  }
  const busy = failureOf({ message: 'Slow down.', code: 'rate_limit_exceeded' });
  expect(busy).toMatchObject({ code: 'provider_busy', systemic: false });
  expect(busy.message).toContain('max_concurrent');
});

test('no other code of a provider decides about the failure', () => {
  expect(failureOf({ message: 'x', code: 'upstream_answer_too_large' })).toMatchObject({ code: 'provider_busy' });
});

test.each([
  ['certificate', false],
  ['tls', false],
  ['proxy', false],
  ['address', true],
  ['connection', true],
  [null, true],
] as const)('an address is advised where the cause has no remedy of its own: %s', (unsent, isAdvised) => {
  // The words decide nothing.
  for (const message of ['Its certificate is not trusted; see no_proxy.', 'Gone.', null]) {
    const failed = { provider: 'openai', model: 'm', status: 502, code: 'upstream_unreachable', message, unsent };
    expect(callFailure(failed).message.includes('OPENAI_BASE_URL')).toBe(isAdvised);
  }
});

test('a refused key names its setting', () => {
  const refused = { provider: 'openai', model: 'm', status: 401, code: 'provider_refused_key', message: null };
  expect(callFailure(refused).message).toContain('OPENAI_API_KEY');
});
