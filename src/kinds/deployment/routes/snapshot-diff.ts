import type { z } from 'zod';
import { componentNames } from '../../../core/prompts/components.js';
import { demoMessages } from '../../../core/prompts/demos.js';
import type { snapshotDiffSchema, SnapshotContent } from '../contract/snapshot.js';
import type { Snapshot } from '../store/snapshots.js';
import { maxEdits, unifiedDiff } from '../../../candidates/routes/text-diff.js';

type Diff = z.output<typeof snapshotDiffSchema>;

/** Differences of two snapshots, part by part, as text. */
export function snapshotDiff(from: Snapshot, to: Snapshot): Diff {
  const [before, after] = [snapshotParts(from.content), snapshotParts(to.content)];
  const names = [...new Set([...before.keys(), ...after.keys()])];
  const differing = names.filter((part) => before.get(part) !== after.get(part));
  // All parts share one limit of edits: the diff blocks the event loop.
  const edits = Math.ceil(maxEdits / Math.max(1, differing.length));
  return {
    from: from.id,
    to: to.id,
    identical: from.id === to.id,
    parts: differing.map((part) => {
      const [old, now] = [before.get(part), after.get(part)];
      const change = old === undefined ? 'added' : now === undefined ? 'removed' : 'changed';
      const named = (snapshot: Snapshot, text = '') => ({ name: `${snapshot.id}/${part}`, text });
      return { part, change, diff: unifiedDiff(named(from, old), named(to, now), edits) };
    }),
  };
}

/** The parts of a snapshot by name, most relevant first. */
function snapshotParts(content: SnapshotContent): Map<string, string> {
  const own: [string, string][] =
    content.kind === 'graph'
      ? [
          ['graph', content.graph_txt],
          ['policies', pretty(content.policies)],
        ]
      : [
          ...componentNames(content.messages).map((name, index): [string, string] => {
            const { role, content: text } = content.messages[index]!;
            return [`messages/${name}`, `${role}\n\n${text}\n`];
          }),
          ...(content.demos.length > 0 ? [['demos', demosText(content.demos)] as [string, string]] : []),
          ['policy', pretty(content.policy)],
        ];
  return new Map([
    ...own,
    ['lever_versions', pretty(content.lever_versions)],
    ['provenance', pretty(content.provenance)],
  ]);
}

function demosText(demos: Extract<SnapshotContent, { kind: 'messages' }>['demos']): string {
  const texts = demos.map((demo) =>
    demoMessages(demo)
      .map(({ role, content }) => `${role}: ${content}\n`)
      .join(''),
  );
  return texts.join('\n');
}

const pretty = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
