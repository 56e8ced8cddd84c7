import { errorMessage } from '../src/errors.ts';
import { sanitizeErrorText, toolError } from './results.ts';
import type { MultimodalResult, ToolResult } from './tool.ts';
import { InvalidArguments } from './tool-record.ts';

/** What a handler gave, or the error that it is no result. */
export function checkedResult(name: string, result: unknown): ToolResult {
  if (typeof result === 'string' || isMultimodal(result)) return result;
  const type = result === null ? 'null' : Array.isArray(result) ? 'array' : typeof result;
  return toolError(`The tool returned ${type}; a result is a string (JSON text) or a multimodal envelope.`, {
    error_type: 'tool_result_contract',
    tool: name,
    result_type: type,
  });
}

function isMultimodal(result: unknown): result is MultimodalResult {
  return (
    typeof result === 'object' &&
    result !== null &&
    '_multimodal' in result &&
    result._multimodal === true &&
    'content' in result &&
    Array.isArray(result.content)
  );
}

/** The seed's wording for a handler that threw: class name and message, the message made safe. */
export function failureResult(error: unknown): string {
  if (error instanceof InvalidArguments) return toolError(sanitizeErrorText(error.message));
  const type = error instanceof Error ? error.constructor.name : typeof error;
  return toolError(`Tool execution failed: ${type}: ${sanitizeErrorText(errorMessage(error))}`);
}
