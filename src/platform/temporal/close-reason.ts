import { WorkflowFailedError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import { cutWithin, storableText } from '../../util/text.js';

const maxChars = 500;
/** What the client says of a terminate without a reason. */
const noReason = 'Workflow execution terminated';

/** The reason of a terminate, or the message of a failure, of a closed workflow; null: none. */
export async function readCloseReason(client: Client, workflowId: string): Promise<string | null> {
  try {
    await client.workflow.getHandle(workflowId).result();
    return null;
  } catch (error) {
    // Its history was deleted meanwhile.
    if (error instanceof WorkflowNotFoundError) return null;
    if (!(error instanceof WorkflowFailedError)) throw error;
    const text = storableText(rootCause(error)).trim();
    return text === '' || text === noReason ? null : cutWithin(text, maxChars);
  }
}

function rootCause(error: Error): string {
  return error.cause instanceof Error ? rootCause(error.cause) : error.message;
}
