/** What changes between two prompts, sentence by sentence; a moved sentence is one edit. */
import type { Demo } from '../demos.js';
import { groupBy } from '../../../util/group.js';
import { isBlank, tokenize } from '../segments.js';
import { applyEdits, listEdits, type EditKind, type ListEdit } from './align.js';

/** The texts of a prompt by component, in order. */
export type PromptTexts = ReadonlyMap<string, string>;

/**
 * An edit of one sentence. `from` and `to`: its index among the sentences of its component, in the
 * earlier and in the later prompt; null where it is missing.
 */
export interface Edit {
  kind: EditKind;
  component: string;
  from: number | null;
  to: number | null;
  /** Without the white space around it. */
  before: string | null;
  after: string | null;
}

export interface PromptChanges {
  /** In the order of the later prompt; those of components that left it come last. */
  edits: Edit[];
  /** The components of the later prompt; null: those of the earlier one. */
  components: string[] | null;
  /** White space around the sentences of the later prompt, by component, where it differs. */
  spacing: Map<string, string[]>;
}

interface Parts {
  sentences: string[];
  /** Before each sentence, and after the last. */
  spaces: string[];
}

/** The sentences of a text, and the white space around them. */
export function partsOf(text: string): Parts {
  const parts: Parts = { sentences: [], spaces: [''] };
  for (const token of tokenize(text)) {
    if (isBlank(token)) parts.spaces[parts.spaces.length - 1] += token;
    else {
      parts.sentences.push(token);
      parts.spaces.push('');
    }
  }
  return parts;
}

function joined({ sentences, spaces }: Parts): string {
  return spaces[0]! + sentences.map((sentence, index) => sentence + spaces[index + 1]!).join('');
}

export function promptChanges(before: PromptTexts, after: PromptTexts): PromptChanges {
  const names = new Set([...after.keys(), ...before.keys()]);
  const spacing = new Map<string, string[]>();
  const edits = [...names].flatMap((component) => {
    const [old, now] = [partsOf(before.get(component) ?? ''), partsOf(after.get(component) ?? '')];
    if (after.has(component) && !areEqual(old.spaces, now.spaces)) spacing.set(component, now.spaces);
    return sentenceEdits(component, old.sentences, now.sentences);
  });
  const components = [...after.keys()];
  return { edits, components: areEqual([...before.keys()], components) ? null : components, spacing };
}

/** The edits of a component's sentences. */
export function sentenceEdits(component: string, before: readonly string[], after: readonly string[]): Edit[] {
  return listEdits(before, after).map(({ kind, from, to }) => ({
    kind,
    component,
    from,
    to,
    before: from === null ? null : before[from]!,
    after: to === null ? null : after[to]!,
  }));
}

/** The prompt that the changes make of the earlier one. */
export function applyChanges(before: PromptTexts, { edits, components, spacing }: PromptChanges): Map<string, string> {
  const byComponent = groupBy(edits, ({ component }) => component);
  const names = components ?? [...before.keys()];
  return new Map(
    names.map((component) => {
      const old = partsOf(before.get(component) ?? '');
      const own = byComponent.get(component) ?? [];
      const sentences = applyEdits(old.sentences, own as ListEdit[], (edit) => (edit as Edit).after!);
      return [component, joined({ sentences, spaces: spacing.get(component) ?? old.spaces })];
    }),
  );
}

/** A text without its sentence at `index`, or with another in its place. */
export function withoutSentence(text: string, index: number, instead: string | null): string {
  const { sentences, spaces } = partsOf(text);
  if (instead !== null) return joined({ sentences: sentences.with(index, instead), spaces });
  const [left, right] = [spaces[index]!, spaces[index + 1]!];
  // A line break stays, and so does the white space at both ends.
  const isInLine = index > 0 && !left.includes('\n') && right.includes('\n');
  const gone = isInLine || (index > 0 && index === sentences.length - 1) ? index : index + 1;
  return joined({ sentences: sentences.toSpliced(index, 1), spaces: spaces.toSpliced(gone, 1) });
}

/** A demonstration as the text of its edit. */
export const demoText = ({ input, output }: Pick<Demo, 'input' | 'output'>): string => `${input}\n→ ${output}`;

function areEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, index) => text === other[index]);
}
