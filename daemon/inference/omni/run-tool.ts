import type { z } from 'zod';
import { GatewayError } from '../../contract/errors.ts';
import { zodMessage } from '../../contract/zod-message.ts';
import { truncate } from '../../lib/text/truncate.ts';
import { parsed } from '../dialects/json.ts';
import type { AvailableTool } from './available-tools.ts';
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

/**
 * Runs one call. A failure of the tool becomes a result for the model; only the end of the caller's own call
 * is thrown.
 */
export async function runTool(
  offered: AvailableTool | undefined,
  call: ToolCall,
  deps: ToolDeps,
  allowed: (offered: AvailableTool) => boolean,
): Promise<ToolResult> {
  const start = performance.now();
  const done = (ok: boolean, content: string, attachment: ToolResult['attachment'] = null): ToolResult => {
    const ms = Math.round(performance.now() - start);
    return { call, ok, content: truncate(content, MAX_CONTENT_LENGTH), ms, attachment };
  };
  try {
    if (offered === undefined || !allowed(offered)) throw new GatewayError('auth.forbidden');
    const { tool, targets } = offered;
    const args = tool.schema.safeParse(parsed(call.arguments || '{}'));
    if (!args.success) throw new GatewayError('request.invalid', { message: issueText(args.error.issues) });
    const { result, attachment } = await tool.run(deps, args.data, targets);
    return done(true, JSON.stringify(result), attachment ?? null);
  } catch (error) {
    deps.signal.throwIfAborted();
    const known = error instanceof GatewayError ? error : new GatewayError('internal');
    return done(false, JSON.stringify({ error: { code: known.code, message: known.message } }));
  }
}

const issueText = (issues: readonly z.core.$ZodIssue[]): string =>
  issues
    .slice(0, 5)
    .map((issue) => `${issue.path.join('.') || 'arguments'}: ${zodMessage(issue)}`)
    .join('; ');
