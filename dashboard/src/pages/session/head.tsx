import { link } from '../../router.js';
import { Badge, Tag, Time } from '../../ui/basics.js';
import { shortId, words } from '../../format.js';
import { Actions } from './actions.js';
import type { Session } from './types.js';

/** Who the session is, what can be done with it, and what went wrong. */
export function Head({ session, onDone }: { session: Session; onDone: () => Promise<unknown> }) {
  const { session_id: id, policy } = session;
  return (
    <>
      <div class="page-head session-head">
        <div>
          <p class="crumbs">
            <a href={link([])}>Runs</a> / session
          </p>
          <h1>
            {session.name ?? shortId(id)} <Badge status={session.status} />
            {session.archived && <Tag>archived</Tag>}
            {session.tags.map((tag) => (
              <a key={tag} class="plain-link" href={link([], { tag })}>
                <Tag>{tag}</Tag>
              </a>
            ))}
          </h1>
          <p class="quiet session-facts">
            <span>{words(session.algorithm).toUpperCase()}</span>
            <span>
              {policy.provider}/{policy.model}
            </span>
            <span>
              created <Time at={session.created_at} />
            </span>
            <code>{id}</code>
            {session.temporal_url && <a href={session.temporal_url}>Temporal</a>}
          </p>
        </div>
        <Actions session={session} onDone={onDone} />
      </div>
      {session.notes && <p class="session-notes">{session.notes}</p>}
      <Failure session={session} />
      <Warnings session={session} />
    </>
  );
}

/** Why the session failed, in full. */
function Failure({ session: { error, error_details: details } }: { session: Session }) {
  if (error === null && details === null) return null;
  return (
    <div class="problem" role="alert">
      <strong>{details ? words(details.code) : 'Failed'}</strong>
      <pre>{details?.message ?? error}</pre>
      {details && error !== null && error !== details.message && <pre>{error}</pre>}
      {details && (
        <p class="quiet">
          {details.retryable
            ? 'The same session may succeed when it is created again.'
            : 'The same session would fail again.'}
        </p>
      )}
    </div>
  );
}

function Warnings({ session: { warnings, concurrency, webhook } }: { session: Session }) {
  const all = [...warnings];
  if (concurrency.lowered_because)
    all.push(
      `${concurrency.limit} of ${concurrency.max_concurrent} rollouts at a time: ${concurrency.lowered_because}`,
    );
  if (webhook?.status === 'failed') all.push(`The webhook to ${webhook.origin} failed: ${webhook.last_error ?? ''}`);
  if (all.length === 0) return null;
  return (
    <div class="note" role="note" aria-label="Warnings">
      {all.map((warning) => (
        <p key={warning}>{warning}</p>
      ))}
    </div>
  );
}
