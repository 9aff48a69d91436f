import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { issueInferenceKey, verifyInferenceKey } from '../../../src/clients/container/inference-key.js';

const secret = randomBytes(32);
const scope = { orgId: 'org "é" |', jobId: 'ses_1', rolloutId: 'rol_1_0' };
const key = issueInferenceKey(secret, scope);

describe('a job’s inference key', () => {
  test('opens its own rollout and names the organization', () => {
    expect(key).toMatch(/^rip_[\w-]+\.[\w-]{43}$/);
    expect(verifyInferenceKey(secret, key, scope)).toBe(scope.orgId);
  });

  test('opens no other job or rollout', () => {
    expect(verifyInferenceKey(secret, key, { ...scope, jobId: 'ses_2' })).toBeNull();
    expect(verifyInferenceKey(secret, key, { ...scope, rolloutId: 'rol_1_1' })).toBeNull();
    // Parts of equal concatenation have different keys.
    expect(verifyInferenceKey(secret, key, { jobId: 'ses_1r', rolloutId: 'ol_1_0' })).toBeNull();
  });

  test('opens nothing for another secret, another organization or a changed proof', () => {
    const [, proof] = key.split('.');
    const otherOrg = `rip_${Buffer.from('org-b').toString('base64url')}.${proof}`;
    const changed = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`;
    expect(verifyInferenceKey(randomBytes(32), key, scope)).toBeNull();
    for (const presented of [
      otherOrg,
      changed,
      key.slice(0, -1),
      `${key}A`,
      `${key}.`,
      'rip_',
      'rip_.',
      '',
      key.slice(4),
    ]) {
      expect(verifyInferenceKey(secret, presented, scope)).toBeNull();
    }
    expect(verifyInferenceKey(secret, `rip_${'A'.repeat(10_000)}.${proof}`, scope)).toBeNull();
  });
});
