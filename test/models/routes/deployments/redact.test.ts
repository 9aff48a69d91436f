import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { redactedKinds, type RedactedKind } from '../../../../src/kinds/deployment/contract/settings.js';
import { redactTexts } from '../../../../src/models/routes/deployments/redact.js';

/** Public examples: RFC 2606 domains, test cards, numbers of standards and of films. */
const examples: Record<RedactedKind, string[]> = {
  email: [
    'me@example.org',
    "o'brien+tag@mail.example.co.uk",
    'jörg@müller.example',
    'jose\u0301@example.org',
    'A_B.c@EXAMPLE.COM',
  ],
  phone: [
    '+49 30 901820',
    '+1 (202) 555-0143',
    '0044 20 7946 0958',
    '(202) 555-0143',
    '202-555-0143',
    '202.555.0143',
    '1-202-555-0143',
    '+33\u00a06\u00a012\u00a034\u00a056\u00a078',
  ],
  credit_card: ['4242 4242 4242 4242', '5555555555554444', '3782-822463-10005', '6011000990139424'],
  iban: ['DE89 3704 0044 0532 0130 00', 'GB82WEST12345698765432', 'NO9386011117947', 'fr1420041010050500013m02606'],
  ip_address: ['192.0.2.1', '2001:db8::ff00:42:8329', '::1', '203.0.113.255'],
  us_ssn: ['078-05-1120'],
  secret: [
    `sk-proj-${'Ab1_'.repeat(10)}`,
    `ghp_${'a1'.repeat(18)}`,
    'AKIAIOSFODNN7EXAMPLE',
    `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.${'x'.repeat(43)}`,
    '-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIB\n-----END RSA PRIVATE KEY-----',
    `gsk_${'a1'.repeat(20)}`,
    `ya29.a0Af_${'H6-b'.repeat(40)}`,
    `ya29.c.${'Kp8B'.repeat(40)}`,
  ],
};

/** What looks similar and is kept. */
const others = [
  'On 2026-11-29 at 13:05:36',
  'Order 12345678, 1234-5678 and 1234567890123456',
  'version 1.2.3.4.5 of 10.0.0',
  'a@b',
  'Call 911 or 555-0143.',
  'DE00 1234 5678 9012 3456 78',
  '999.999.999.999',
  'skip-this-and-that',
  'the ratio 3:2:1',
  'std::vector and a::b::c',
  '00:1b:44:11:3a:b7',
  'ya29.short',
];

test.each(redactedKinds.map((kind) => [kind]))('replaces %s within a text, and nothing else', async (kind) => {
  for (const example of examples[kind]) {
    const [text] = (await redactTexts([`Before ${example}, after.`], [kind]))!;
    expect(text).toBe(`Before [${kind}], after.`);
  }
});

test.each([
  ['2001:db8::1: unreachable', '[ip_address]: unreachable'],
  ['[2001:db8::1]:8080', '[[ip_address]]:8080'],
  ['2001:db8:0:0:0:0:0:1:8080', '[ip_address]:8080'],
  ['2001:db8:1:2:3:4:5:6:65535 is full', '[ip_address]:65535 is full'],
  ['from ::1:', 'from [ip_address]:'],
])('replaces an address before a colon or a port: %s', async (text, expected) => {
  expect(await redactTexts([text], ['ip_address'])).toEqual([expected]);
});

test.each(others)('keeps %j', async (text) => {
  expect(await redactTexts([text], [...redactedKinds])).toEqual([text]);
});

describe('patterns', () => {
  test('are replaced by their name, before the known kinds', async () => {
    const redact = [...redactedKinds, { name: 'customer', pattern: 'C-[0-9]{6}(@example.org)?' }];
    const texts = ['C-123456 and C-654321@example.org, me@example.org $1', 'none'];
    expect(await redactTexts(texts, redact)).toEqual(['[customer] and [customer], [email] $1', 'none']);
  });

  test('take bounded work: longer texts are not kept', async () => {
    const redact = [{ name: 'long', pattern: '(a|b){200}' }];
    expect(await redactTexts(['ab'.repeat(100)], redact)).toEqual(['[long]']);
    expect(await redactTexts(['ab'.repeat(200_000)], redact)).toBeNull();
  });
});

test('leaves nothing of a kind behind, wherever it stands', async () => {
  const words = fc.constantFrom('a', ' ', '.', ',', '"', '(', '1 ', 'é ', '\n', ...Object.values(examples).flat());
  await fc.assert(
    fc.asyncProperty(fc.array(words, { maxLength: 12 }), async (parts) => {
      const [once] = (await redactTexts([parts.join(' ')], [...redactedKinds]))!;
      expect(await redactTexts([once!], [...redactedKinds])).toEqual([once]);
      for (const example of Object.values(examples).flat()) expect(` ${once} `).not.toContain(` ${example} `);
    }),
    { numRuns: 300 },
  );
});
