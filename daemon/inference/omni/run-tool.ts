import type { z } from 'zod';
import { GatewayError } from '../../contract/errors.ts';
import { zodMessage } from '../../contract/zod-message.ts';
import { truncate } from '../../lib/text/truncate.ts';
import { parsed } from '../dialects/json.ts';
import type { AvailableTool } from './available-tools.ts';
import { fitResult } from './fit-result.ts';
import type { ToolDeps } from './tool.ts';

/** One call by the model. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, as the model wrote it. */
  readonly arguments: string;
  /** Fields other than name and arguments that the model requires back. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** The result of a call; `content` is the tool message for the model. */
export interface ToolResult {
  readonly call: ToolCall;
  readonly ok: boolean;
  readonly content: string;
  readonly ms: number;
  readonly attachment: Readonly<Record<string, unknown>> | null;
}

/** Maximum characters of a tool result for the model. */
const MAX_CONTENT_LENGTH = 16_384;
const MAX_MESSAGE_LENGTH = 4_096;

/**
 * Runs one call. A failure of the tool becomes a result for the model; only the end of the caller's own call
 * is thrown. `names` are those of all tools, for a call of an unknown one; `isForbidden`: the tool exists, but
 * not for this caller.
 */
export async function runTool(
  offered: AvailableTool | undefined,
  call: ToolCall,
  { names, isForbidden }: { readonly names: readonly string[]; readonly isForbidden: boolean },
  deps: ToolDeps,
): Promise<ToolResult> {
  const start = performance.now();
  const done = (ok: boolean, content: string, attachment: ToolResult['attachment'] = null): ToolResult => {
    const ms = Math.round(performance.now() - start);
    return { call, ok, content, ms, attachment };
  };
  const failed = (code: string, message: string) =>
    done(false, JSON.stringify({ error: { code, message: truncate(message, MAX_MESSAGE_LENGTH) } }));
  try {
    if (isForbidden) throw new GatewayError('auth.forbidden');
    if (offered === undefined) return failed('tool.not_found', unknownTool(call.name, names));
    const { tool, targets } = offered;
    const values = call.arguments.trim() === '' ? {} : parsed(call.arguments);
    if (values === undefined)
      return failed('request.invalid', 'The arguments are not valid JSON. Send one JSON object.');
    const args = tool.schema.safeParse(values);
    if (!args.success) throw new GatewayError('request.invalid', { message: issueText(args.error.issues) });
    const { result, attachment } = await tool.run(deps, args.data, targets);
    return done(true, fitResult(result, MAX_CONTENT_LENGTH), attachment ?? null);
  } catch (error) {
    deps.signal.throwIfAborted();
    const known = error instanceof GatewayError ? error : new GatewayError('internal');
    return failed(known.code, known.message);
  }
}

/** Returns the result of a call that is not run because its round has too many. */
export const skippedCall = (call: ToolCall, most: number): ToolResult => ({
  call,
  ok: false,
  content: JSON.stringify({
    error: {
      code: 'tool.too_many_calls',
      message: `This call was not run: at most ${most} calls run in one round. Send it again in the next round.`,
    },
  }),
  ms: 0,
  attachment: null,
});

/** Small models invent names of tools; without the list they apologise for missing rights. */
function unknownTool(name: string, names: readonly string[]): string {
  const list = names.length === 0 ? 'There are no tools.' : `Tools: ${names.join(', ')}.`;
  return `There is no tool "${truncate(name, 64)}". ${list}`;
}

const issueText = (issues: readonly z.core.$ZodIssue[]): string =>
  issues
    .slice(0, 5)
    .map((issue) => `${issue.path.join('.') || 'arguments'}: ${zodMessage(issue)}`)
    .join('; ');
