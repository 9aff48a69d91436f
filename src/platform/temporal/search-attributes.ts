import { isGrpcServiceError, type Client, type Connection } from '@temporalio/client';
import type { Logger } from 'pino';
import {
  algorithmAttribute,
  bestRewardAttribute,
  nameAttribute,
  orgAttribute,
  rolloutsAttribute,
  statusAttribute,
  stopReasonAttribute,
  tagsAttribute,
} from '../../../workflows/messages.js';

/** The types' numbers in Temporal's API (IndexedValueType) and names in its command line. */
const types = {
  KEYWORD: { code: 2, name: 'Keyword' },
  INT: { code: 3, name: 'Int' },
  DOUBLE: { code: 4, name: 'Double' },
  KEYWORD_LIST: { code: 7, name: 'KeywordList' },
};
/** gRPC codes NOT_FOUND; PERMISSION_DENIED and UNIMPLEMENTED. */
const notFound = 5;
const refused = [7, 12];
const labels = [nameAttribute, tagsAttribute];
const keywords = [orgAttribute, algorithmAttribute, statusAttribute, stopReasonAttribute, ...labels];
const attributes = [...keywords, bestRewardAttribute, rolloutsAttribute];

/** The namespace lacks something; the message is one line with the command that repairs it. */
export class SearchAttributesError extends Error {
  override readonly name = 'SearchAttributesError';
}

/**
 * Registers the search attributes that workflows set, or rejects with the operator's command. Where
 * listing is refused (Temporal Cloud), logs a warning and assumes that they exist.
 */
export async function registerSearchAttributes(client: Client, log: Logger): Promise<void> {
  const namespace = client.options.namespace;
  const { operatorService } = client.connection as Connection;
  const command = (absent: typeof attributes) =>
    `temporal operator search-attribute create --namespace ${namespace} ${absent.map(({ name, type }) => `--name ${name} --type ${types[type].name}`).join(' ')}`;
  const missing = async () => {
    const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
    return attributes.filter(({ name }) => !(name in (customAttributes ?? {})));
  };
  let absent: typeof attributes;
  try {
    absent = await missing();
  } catch (cause) {
    if (!isGrpcServiceError(cause)) throw cause;
    if (cause.code === notFound) {
      throw new SearchAttributesError(
        `Temporal namespace "${namespace}" not found. Set TEMPORAL_NAMESPACE, or run: temporal operator namespace create --namespace ${namespace}`,
        { cause },
      );
    }
    if (!refused.includes(cause.code)) throw cause;
    log.warn(`Temporal refuses to list search attributes. If they are missing, run: ${command(attributes)}`);
    return;
  }
  if (absent.length === 0) return;
  try {
    await operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(absent.map(({ name, type }) => [name, types[type].code])),
    });
  } catch (cause) {
    // Another process may have registered them.
    const still = await missing();
    if (still.length === 0) return;
    throw new SearchAttributesError(
      `Temporal namespace "${namespace}" lacks search attributes, and Temporal refused to register them. Run: ${command(still)}`,
      { cause },
    );
  }
}
