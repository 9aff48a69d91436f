import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ControlState } from '../../../activities/index.js';
import { decideCommands, type CommandDecision, type PendingCommand } from '../../../workflows/jobs/commands.js';

// Invariants: batching changes nothing; each command with an id is answered once, ends the job, or
// follows the command that did; only a change of status has an event.

const pendingCommand = fc.record<PendingCommand>({
  kind: fc.constantFrom('pause', 'resume', 'cancel', 'reward_stop'),
  commandId: fc.option(fc.uuid()),
});
const controlState = fc.record<ControlState>({ status: fc.constantFrom('running', 'paused'), pauses: fc.nat(3) });

/** Decides the same commands in batches of `size` while the job is open. */
function inBatches(from: ControlState, commands: PendingCommand[], size: number): CommandDecision {
  let all: CommandDecision = {
    next: from,
    outcomes: [],
    events: [],
    hasPrompt: false,
    end: null,
    accepted: null,
  };
  for (let i = 0; i < commands.length && !all.end; i += size) {
    const step = decideCommands(all.next, commands.slice(i, i + size));
    all = { ...step, outcomes: [...all.outcomes, ...step.outcomes], events: [...all.events, ...step.events] };
  }
  return all;
}

describe('decideCommands', () => {
  test('batching changes nothing', () => {
    fc.assert(
      fc.property(controlState, fc.array(pendingCommand), fc.integer({ min: 1, max: 4 }), (from, commands, size) => {
        expect(inBatches(from, commands, size)).toEqual(decideCommands(from, commands));
      }),
    );
  });

  test('answers each command once, up to the command that ends the job', () => {
    fc.assert(
      fc.property(controlState, fc.array(pendingCommand), (from, commands) => {
        const { outcomes, end, accepted } = decideCommands(from, commands);
        const last = commands.findIndex(({ kind }) => kind === 'cancel' || kind === 'reward_stop');
        expect(end === null).toBe(last < 0);
        expect(accepted).toBe(commands[last]?.commandId ?? null);
        const before = last < 0 ? commands : commands.slice(0, last);
        expect(outcomes.map(({ commandId }) => commandId)).toEqual(before.flatMap(({ commandId }) => commandId ?? []));
      }),
    );
  });

  test('pauses and resumes alternate in the log, each with its own key', () => {
    fc.assert(
      fc.property(controlState, fc.array(pendingCommand), (from, commands) => {
        const { events, next: after } = decideCommands(from, commands);
        const types = events.map(({ type }) => type);
        expect(types.every((type, i) => type !== types[i - 1])).toBe(true);
        expect(new Set(events.map(({ key }) => key)).size).toBe(events.length);
        if (types.length > 0) expect(after.status).toBe(types.at(-1) === 'paused' ? 'paused' : 'running');
        else expect(after).toEqual(from);
      }),
    );
  });

  test('answers a command with the status right after it', () => {
    const commands = (['pause', 'resume', 'resume', 'pause'] as const).map((kind, i) => ({ kind, commandId: `${i}` }));
    const { outcomes, events } = decideCommands({ status: 'running', pauses: 0 }, commands);
    expect(outcomes.map(({ statusAfter }) => statusAfter)).toEqual(['paused', 'running', 'running', 'paused']);
    expect(events.map(({ key }) => key)).toEqual(['paused:1', 'resumed:1', 'paused:2']);
  });
});
