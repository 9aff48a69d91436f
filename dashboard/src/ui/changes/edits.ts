/** The edits of two prompts that the page has. */
import { promptChanges, type Edit } from '../../../../src/core/prompts/changes/changes.js';
import { wordPieces } from '../../../../src/core/prompts/changes/words.js';
import { componentTexts } from '../../../../src/core/prompts/components.js';
import type { ListedEdit } from './edit-list.js';

type Messages = Parameters<typeof componentTexts>[0];

/** The sentences that make the later prompt of the earlier one. */
export function editsOfPrompt(before: Messages, after: Messages): ListedEdit[] {
  const textsOf = (messages: Messages) => new Map(Object.entries(componentTexts(messages)));
  return withWords(promptChanges(textsOf(before), textsOf(after)).edits);
}

/** Edits with the words that differ in a changed sentence. */
export const withWords = (edits: readonly Edit[]): ListedEdit[] =>
  edits.map((edit) => ({
    ...edit,
    words: edit.kind === 'changed' ? wordPieces(edit.before!, edit.after!) : null,
  }));
