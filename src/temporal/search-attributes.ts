import { isGrpcServiceError, type Client, type Connection } from '@temporalio/client';
import type { Logger } from 'pino';
import { algorithmAttribute, kindAttribute, orgAttribute, statusAttribute } from '../../workflows/messages.js';

/** IndexedValueType.KEYWORD of Temporal's API. */
const keyword = 2;
/** Codes of gRPC. */
const notFound = 5;
const refused = [7, 12];
const names = [orgAttribute, kindAttribute, algorithmAttribute, statusAttribute].map((attribute) => attribute.name);

/** The namespace cannot be used as it is; the message is one line with the command that mends it. */
export class SearchAttributesError extends Error {
  override readonly name = 'SearchAttributesError';
}

/**
 * Registers the search attributes that workflows set. Rejects with the command for an operator where they are missing and
 * may not be registered. Where even the look is refused (Temporal Cloud may) it takes them to be there, and says so in the log.
 */
export async function registerSearchAttributes(client: Client, log: Logger): Promise<void> {
  const namespace = client.options.namespace;
  const { operatorService } = client.connection as Connection;
  const command = (absent: string[]) =>
    `temporal operator search-attribute create --namespace ${namespace} ${absent.map((name) => `--name ${name} --type Keyword`).join(' ')}`;
  const missing = async () => {
    const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
    return names.filter((name) => !(name in (customAttributes ?? {})));
  };
  let absent: string[];
  try {
    absent = await missing();
  } catch (cause) {
    if (!isGrpcServiceError(cause)) throw cause;
    if (cause.code === notFound) {
      throw new SearchAttributesError(
        `There is no Temporal namespace ${namespace}: set TEMPORAL_NAMESPACE, or run: temporal operator namespace create --namespace ${namespace}`,
        { cause },
      );
    }
    if (!refused.includes(cause.code)) throw cause;
    log.warn(`Temporal does not tell which search attributes there are. If they are missing, run: ${command(names)}`);
    return;
  }
  if (absent.length === 0) return;
  try {
    await operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(absent.map((name) => [name, keyword])),
    });
  } catch (cause) {
    // Another process may have been first.
    const still = await missing();
    if (still.length === 0) return;
    throw new SearchAttributesError(
      `The Temporal namespace ${namespace} lacks search attributes, and they may not be registered from here. Run: ${command(still)}`,
      { cause },
    );
  }
}
