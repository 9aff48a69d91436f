import { useState } from 'preact/hooks';
import { Problem } from './basics.js';
import { ConfirmDialog, type Question } from './confirm.js';
import { Menu, type MenuItem } from './menu.js';

/** What can be done on a page: a link, a dialog, or a call, which may ask first. */
export interface PageAction extends MenuItem {
  open?: () => void;
  run?: () => Promise<unknown>;
  question?: Question;
}

/** The actions of a page: the one that its state asks for, a few beside it, the rest in a menu. */
export function ActionBar(props: {
  primary?: PageAction | undefined;
  plain: readonly PageAction[];
  more: readonly PageAction[];
  /** What the state of the page means for them. */
  note?: string | null;
}) {
  const { primary, plain, more, note } = props;
  const [asked, setAsked] = useState<PageAction | null>(null);
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const choose = (action: PageAction) => {
    const { open, run, question } = action;
    if (open) return open();
    if (question) return setAsked(action);
    setRunning(true);
    setError(null);
    run!()
      .catch(setError)
      .finally(() => setRunning(false));
  };
  const button = (action: PageAction, kind: 'plain' | 'primary') => {
    const { label, title, href } = action;
    const look = { key: label, title, class: `button button-${kind}` };
    return href === undefined ? (
      <button type="button" {...look} disabled={isRunning} onClick={() => choose(action)}>
        {label}
      </button>
    ) : (
      <a href={href} {...look}>
        {label}
      </a>
    );
  };
  return (
    <div class="action-bar">
      <div class="actions" role="group" aria-label="Actions">
        {primary && button(primary, 'primary')}
        {plain.map((action) => button(action, 'plain'))}
        <Menu label="More" items={more} choose={choose} />
      </div>
      {note && <p class="quiet">{note}</p>}
      <Problem error={error} />
      {asked && (
        <ConfirmDialog
          question={asked.question!}
          kind={asked.isDanger ? 'danger' : 'plain'}
          run={asked.run!}
          onClose={() => setAsked(null)}
        />
      )}
    </div>
  );
}
