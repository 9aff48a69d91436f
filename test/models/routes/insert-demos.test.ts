import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { demoMessages, type Demo } from '../../../src/core/prompts/demos.js';
import { insertDemos } from '../../../src/models/routes/demos.js';

// Invariants: insertion is idempotent; the request's messages stay in order; without demonstrations
// nothing changes.

const words = fc.constantFrom('', 'a', 'b', 'c');
const role = fc.constantFrom('system', 'developer', 'user', 'assistant', 'tool', 7);
const content = fc.oneof(words, fc.array(fc.record({ type: fc.constant('text'), text: words }), { maxLength: 2 }));
const message = fc.oneof(fc.record({ role, content }), fc.constantFrom<unknown>(null, 'text', [], {}));
const demos = fc.array(
  fc.record({ input: words, output: words }).map((said): Demo => ({ component: null, seed: 1, ordinal: 0, ...said })),
  { maxLength: 3 },
);
const system = { role: 'system', content: 's' };

describe('demonstrations in a request', () => {
  test('are the same after a second insertion', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), demos, (messages, demos) => {
        const once = insertDemos(messages, demos);
        expect(insertDemos(once, demos)).toBe(once);
      }),
    );
  });

  test('follow the leading system messages in one piece; other messages stay', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), demos, (messages, demos) => {
        const inserted = insertDemos(messages, demos);
        if (inserted === messages) return;
        const isSystem = (message: unknown) =>
          ['system', 'developer'].includes((message as { role?: string } | null)?.role ?? '');
        const at = messages.findIndex((message) => !isSystem(message));
        const leading = at === -1 ? messages.length : at;
        expect(inserted).toEqual([
          ...messages.slice(0, leading),
          ...demos.flatMap(demoMessages),
          ...messages.slice(leading),
        ]);
      }),
    );
  });

  test('an empty list changes nothing', () => {
    const messages = [system, null];
    expect(insertDemos(messages, [])).toBe(messages);
  });

  test('are recognized by equal texts or single text parts, else inserted', () => {
    const [first, second] = ['1', '2'].map((n): Demo => ({
      component: null,
      seed: 0,
      ordinal: 0,
      input: n,
      output: `${n}!`,
    }));
    const question = { role: 'user', content: 'q' };
    const parts = { role: 'user', content: [{ type: 'text', text: '1' }] };
    const there = [system, parts, { role: 'assistant', content: '1!', name: 'x' }, ...demoMessages(second!), question];
    expect(insertDemos(there, [first!, second!])).toBe(there);
    const said = (content: unknown) => [
      { role: 'user', content },
      demoMessages(first!)[1],
      ...demoMessages(second!),
      question,
    ];
    for (const other of [
      [system, ...demoMessages(first!), question],
      [system, ...demoMessages(second!), ...demoMessages(first!), question],
      [system, question, ...demoMessages(first!), ...demoMessages(second!)],
      [system, ...said([{ type: 'image_url', text: '1' }])],
      [
        system,
        ...said([
          { type: 'text', text: '1' },
          { type: 'text', text: 'and more' },
        ]),
      ],
      [system, ...there.slice(1).map((message) => ({ ...message, role: 'user' }))],
    ]) {
      expect(insertDemos(other, [first!, second!])).toHaveLength(other.length + 4);
    }
  });
});
