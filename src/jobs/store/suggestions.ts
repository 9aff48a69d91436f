import type { Tx } from '../../platform/db/db.js';
import { toJsonb } from '../../platform/db/json.js';

/** A person's suggestion: the texts of a prompt by component, or a hint (null: removed). */
export type SuggestedContent = { texts: Record<string, string> } | { hint: string | null };

/** Stores what a command brings, in the command's transaction. */
export async function insertSuggestion(
  tx: Tx,
  orgId: string,
  commandId: string,
  content: SuggestedContent,
): Promise<void> {
  const [texts, hint] = 'texts' in content ? [toJsonb(content.texts), null] : [null, content.hint];
  await tx.query('insert into suggestions (command_id, org_id, texts, hint) values ($1, $2, $3, $4)', [
    commandId,
    orgId,
    texts,
    hint,
  ]);
}

/** The hint that the job's proposer is given; null: none. */
export async function readHint(tx: Tx, jobId: string): Promise<string | null> {
  const [row] = await tx.query<{ hint: string | null }>(
    `select s.hint from commands c join suggestions s on s.command_id = c.id
      where c.job_id = $1 and c.kind = 'hint' and c.outcome = 'accepted' order by c.settled_at desc, c.id desc limit 1`,
    [jobId],
    'read_hint',
  );
  return row?.hint ?? null;
}

/** The ids of accepted prompts that the search does not have yet, the earliest first. */
export async function readNewPrompts(tx: Tx, jobId: string): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `select c.id from commands c join suggestions s on s.command_id = c.id
      where c.job_id = $1 and c.kind = 'candidate' and c.outcome = 'accepted' and not s.taken
      order by c.settled_at, c.id`,
    [jobId],
    'read_new_prompts',
  );
  return rows.map(({ id }) => id);
}

/** Notes that the search has a prompt. */
export async function takePrompt(tx: Tx, commandId: string): Promise<void> {
  await tx.query('update suggestions set taken = true where command_id = $1', [commandId], 'take_prompt');
}

interface SuggestionRow extends Record<string, unknown> {
  texts: Record<string, string> | null;
  hint: string | null;
}

/** A suggestion of the job; null: the database lacks it. */
export async function readSuggestion(tx: Tx, jobId: string, commandId: string): Promise<SuggestionRow | null> {
  const [row] = await tx.query<SuggestionRow>(
    'select texts, hint from suggestions s join commands c on c.id = s.command_id where c.id = $1 and c.job_id = $2',
    [commandId, jobId],
  );
  return row ?? null;
}
