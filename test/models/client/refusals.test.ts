import { describe, expect, test } from '@jest/globals';
import { callFailure, refusalOf } from '../../../src/models/client/call-failure.js';
import { judgeRefusal, refusedCall, type RefusalScope } from '../../../src/models/client/refusals.js';

const judged = (status: number, body: unknown, shouldRetry: boolean | null = null) =>
  judgeRefusal(refusedCall(status, typeof body === 'string' ? body : JSON.stringify(body)), { shouldRetry });

/** A refusal of Gemini, whose words are the same for a minute and for a day. */
const google = (quotaId: string, limit: number) => ({
  error: {
    code: 429,
    message: `You exceeded your current quota. Quota exceeded for metric: a/free_requests, limit: ${limit}, model: m`,
    status: 'RESOURCE_EXHAUSTED',
    details: [{ violations: [{ quotaId, quotaValue: String(limit) }] }, { retryDelay: '34s' }],
  },
});

describe('a refusal', () => {
  test.each([408, 409, 425, 429, 498, 499, 500, 502, 503, 504, 520, 521, 522, 523, 524, 525, 526, 527, 529])(
    'with %i may pass',
    (status) => {
      expect(judged(status, { error: { message: 'x' } })).toEqual({ scope: 'moment', mayPass: true });
      expect(judged(status, '<html>busy</html>', false).mayPass).toBe(false);
    },
  );

  test.each<[number, RefusalScope]>([
    [400, 'request'],
    [401, 'key'],
    [402, 'credit'],
    [403, 'other'],
    [404, 'model'],
    [413, 'request'],
    [422, 'request'],
  ])('with %i does not pass, and holds for: %s', (status, scope) => {
    expect(judged(status, '')).toEqual({ scope, mayPass: false });
    expect(judged(status, '', true).mayPass).toBe(true);
  });

  test.each<[RefusalScope, number, unknown]>([
    ['credit', 429, { error: { message: 'You exceeded your current quota.', code: 'insufficient_quota' } }],
    ['credit', 429, { error: { message: 'No credit.', type: 'insufficient_quota', code: null } }],
    [
      'credit',
      400,
      { type: 'error', error: { type: 'invalid_request_error', message: 'Your credit balance is too low.' } },
    ],
    ['credit', 402, { error: { message: 'Insufficient credits', code: 402 } }],
    [
      'credit',
      402,
      { error: { message: 'Insufficient Balance', type: 'unknown_error', code: 'invalid_request_error' } },
    ],
    ['credit', 429, { error: { type: 'exceeded_current_quota_error', message: 'suspended' } }],
    ['credit', 429, { error: { code: '1113', message: 'recharge' } }],
    ['credit', 400, { error: { code: 'Arrearage', message: 'overdue' } }],
    ['credit', 403, { code: 'exhausted', error: 'Your team has used all available credits.' }],
    ['credit', 400, { error: { message: 'x', code: 'billing_not_active' } }],
    ['credit', 400, [{ error: { message: 'x', code: 'billing_hard_limit_reached' } }]],
    ['account', 401, { error: { message: 'x', code: 'account_deactivated' } }],
    ['account', 400, { error: { message: 'x', code: 'organization_restricted' } }],
    ['key', 400, { error: { message: 'x', status: 'INVALID_ARGUMENT', details: [{ reason: 'API_KEY_INVALID' }] } }],
    ['key', 400, { code: 'x', error: 'Incorrect API key provided' }],
    ['key', 403, { error: { message: 'x', code: 'invalid_api_key' } }],
    ['model', 400, { error: { message: 'Model Not Exist', code: 'invalid_request_error' } }],
    [
      'model',
      400,
      {
        error: { message: '/chat/completions: Invalid model name passed in model=x. Call `/v1/models`.', code: '400' },
      },
    ],
    ['model', 400, { error: { message: 'gone', code: 'model_decommissioned' } }],
    ['moment', 429, { error: { message: 'You exceeded your current quota', status: 'RESOURCE_EXHAUSTED', code: 429 } }],
    ['moment', 429, { error: { message: 'Rate limit reached', type: 'tokens', code: 'rate_limit_exceeded' } }],
    ['request', 400, { error: { message: 'Insufficient context', code: 'context_length_exceeded' } }],
    ['credit', 429, [google('GenerateRequestsPerDayPerProjectPerModel-FreeTier', 50)]],
    ['credit', 429, [google('GenerateRequestsPerMinutePerProjectPerModel-FreeTier', 0)]],
    ['moment', 429, [google('GenerateRequestsPerMinutePerProjectPerModel-FreeTier', 15)]],
    ['credit', 429, { error: { message: 'Rate limit exceeded: free-models-per-day. Add 10 credits', code: 429 } }],
    ['moment', 429, { error: { message: 'Rate limit exceeded: free-models-per-min.', code: 429 } }],
    ['moment', 429, { error: { message: 'Limit 9 tokens per day. Please try again in 14m24s.', type: 'tokens' } }],
    ['credit', 429, { message: 'You are using a Trial key, which is limited to 1000 API calls / month.' }],
    ['credit', 403, { error: 'You have reached your pre-paid credits limit' }],
    ['credit', 403, { code: 30001, message: 'Sorry, your account balance is insufficient', data: null }],
    ['credit', 429, { error: { message: 'Billing hard limit has been reached', type: 'x', code: null } }],
    ['credit', 400, { error: { message: 'You have reached your specified API usage limits.', type: 'x' } }],
    [
      'credit',
      403,
      [{ error: { message: 'x', status: 'PERMISSION_DENIED', details: [{ reason: 'BILLING_DISABLED' }] } }],
    ],
    ['credit', 429, { base_resp: { status_code: 1008, status_msg: 'no' } }],
    ['moment', 429, { base_resp: { status_code: 1002, status_msg: 'no' } }],
    ['account', 412, { error: { code: 'PRECONDITION_FAILED', message: 'Account x is suspended, possibly' } }],
    ['account', 400, { type: 'error', error: { message: 'This organization has been disabled.' } }],
    ['model', 400, { detail: 'The model `x` does not exist.' }],
    ['key', 400, { errors: [{ message: 'Invalid API key', code: 10000 }] }],
  ])('of kind %s is told from status and code: %i %j', (scope, status, body) => {
    const { mayPass, ...refusal } = judged(status, body);
    expect(refusal.scope).toBe(scope);
    // A 429 without credit stays.
    expect(mayPass).toBe(scope === 'moment');
  });

  test.each([
    [429, { message: 'x', code: 'insufficient_quota' }, 'provider_refused_account', true],
    [402, { message: 'x' }, 'provider_refused_account', true],
    [408, { message: 'x' }, 'provider_error', undefined],
    [404, { message: 'x' }, 'model_not_found', undefined],
    [429, { message: 'x', code: 'upstream_timeout' }, 'provider_busy', undefined],
  ])('is a failure of the account or of the call: %i %j', (status, error, code, isOfAccount) => {
    const failure = callFailure({
      provider: 'openai',
      model: 'm',
      ...refusalOf({ status, text: JSON.stringify({ error }) }),
    });
    expect(failure).toMatchObject({ code, infrastructure: true });
    expect(failure.isOfAccount).toBe(isOfAccount);
    if (isOfAccount) expect(failure.message).toMatch(/Add credit/);
  });
});
