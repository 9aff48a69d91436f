import type { Session } from '../../../data/session/types.js';

export interface DialogProps {
  session: Session;
  onClose: () => void;
  /** After a change: reads the session again. */
  onDone: () => Promise<unknown>;
}
