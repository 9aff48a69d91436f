import { describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { AnswerIds } from '../../../../src/kinds/deployment/store/answer-ids.js';
import { newJobId } from '../../../../src/jobs/store/jobs.js';

const ids = new AnswerIds(Buffer.alloc(32, 1));

describe('the id of an answer', () => {
  test('says which deployment answered and when, and is another one each time', () => {
    const deployment = newJobId('deployment');
    const unit = ids.unitOf('ada');
    const before = Date.now();
    const issued = Array.from({ length: 1_000 }, () => ids.issue(deployment, unit));
    expect(new Set(issued).size).toBe(1_000);
    for (const id of issued) {
      const { deploymentId, at, unit: read } = ids.read(id)!;
      expect(read).toBe(unit);
      expect(deploymentId).toBe(deployment);
      expect(+at).toBeGreaterThanOrEqual(before);
      expect(+at).toBeLessThanOrEqual(Date.now());
    }
    expect(issued[0]).toMatch(/^chatcmpl-[A-Za-z0-9_-]{56}$/);
  });

  test('says nothing with any bit changed, under another key, or made elsewhere', () => {
    const id = ids.issue(newJobId('deployment'), ids.unitOf(null));
    const bytes = Buffer.from(id.slice('chatcmpl-'.length), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(ids.read(`chatcmpl-${changed.toString('base64url')}`)).toBeNull();
    }
    expect(new AnswerIds(Buffer.alloc(32, 2)).read(id)).toBeNull();
    const others = ['', 'chatcmpl-', 'chatcmpl-123', `${id}A`, `${id}=`, id.slice(9), randomBytes(42).toString('hex')];
    for (const other of others) expect(ids.read(other)).toBeNull();
  });
});
