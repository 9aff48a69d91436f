import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  decideCommands,
  type ControlState,
  type CommandDecision,
  type PendingCommand,
} from '../../../workflows/jobs/commands.js';

// Invariants: how commands are grouped changes nothing; each one with an id is answered once, or ends the job, or comes after
// one that did; an event is told once, and only where the status changed.

const waiting = fc.record<PendingCommand>({
  kind: fc.constantFrom('pause', 'resume', 'cancel', 'reward_stop'),
  commandId: fc.option(fc.uuid()),
});
const standing = fc.record<ControlState>({ status: fc.constantFrom('running', 'paused'), pauses: fc.nat(3) });

/** The same commands, decided in groups of `size` as long as the job is open. */
function inGroups(from: ControlState, commands: PendingCommand[], size: number): CommandDecision {
  let all: CommandDecision = { standing: from, outcomes: [], events: [], ending: null, accepted: null };
  for (let i = 0; i < commands.length && !all.ending; i += size) {
    const next = decideCommands(all.standing, commands.slice(i, i + size));
    all = { ...next, outcomes: [...all.outcomes, ...next.outcomes], events: [...all.events, ...next.events] };
  }
  return all;
}

describe('decide', () => {
  test('how commands are grouped changes nothing', () => {
    fc.assert(
      fc.property(standing, fc.array(waiting), fc.integer({ min: 1, max: 4 }), (from, commands, size) => {
        expect(inGroups(from, commands, size)).toEqual(decideCommands(from, commands));
      }),
    );
  });

  test('each command is answered once, up to the one that ends the job', () => {
    fc.assert(
      fc.property(standing, fc.array(waiting), (from, commands) => {
        const { outcomes, ending, accepted } = decideCommands(from, commands);
        const last = commands.findIndex(({ kind }) => kind === 'cancel' || kind === 'reward_stop');
        expect(ending === null).toBe(last < 0);
        expect(accepted).toBe(commands[last]?.commandId ?? null);
        const before = last < 0 ? commands : commands.slice(0, last);
        expect(outcomes.map(({ commandId }) => commandId)).toEqual(before.flatMap(({ commandId }) => commandId ?? []));
      }),
    );
  });

  test('pauses and resumes take turns in the log, each with a key of its own', () => {
    fc.assert(
      fc.property(standing, fc.array(waiting), (from, commands) => {
        const { events, standing: after } = decideCommands(from, commands);
        const types = events.map(({ type }) => type);
        expect(types.every((type, i) => type !== types[i - 1])).toBe(true);
        expect(new Set(events.map(({ key }) => key)).size).toBe(events.length);
        if (types.length > 0) expect(after.status).toBe(types.at(-1) === 'paused' ? 'paused' : 'running');
        else expect(after).toEqual(from);
      }),
    );
  });

  test('a command is answered with the status it left the job in, not with that after later ones', () => {
    const commands = (['pause', 'resume', 'resume', 'pause'] as const).map((kind, i) => ({ kind, commandId: `${i}` }));
    const { outcomes, events } = decideCommands({ status: 'running', pauses: 0 }, commands);
    expect(outcomes.map(({ statusAfter }) => statusAfter)).toEqual(['paused', 'running', 'running', 'paused']);
    expect(events.map(({ key }) => key)).toEqual(['paused:1', 'resumed:1', 'paused:2']);
  });
});
