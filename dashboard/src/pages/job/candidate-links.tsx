import { againLink, evaluateLink } from '../new/form/original.js';

/** Runs that begin with a candidate, or with another prompt on the page. */
export function PromptLinks(props: { id: string; candidateId: string | null; again?: string; isGraph?: boolean }) {
  const { id, candidateId, again = 'Branch from here', isGraph = false } = props;
  return (
    <div class="actions prompt-links">
      <a class="button button-small" href={againLink(id, candidateId)}>
        {again}
      </a>
      {!isGraph && (
        <a class="button button-small" href={evaluateLink(id, candidateId)}>
          Evaluate on …
        </a>
      )}
    </div>
  );
}
