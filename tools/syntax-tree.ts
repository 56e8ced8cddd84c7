/**
 * The one place that knows the parser. It is loaded on first use: a warm start of the gateway never needs it.
 */

export interface ParsedModule {
  /** `registry.register(...)` stands at the top level of the module, outside every function and block. */
  registersTool: boolean;
  /** `line: message` of each syntax error. */
  errors: readonly string[];
}

/** Parses JavaScript or TypeScript; the file name's ending says which. */
export async function parseModule(fileName: string, source: string): Promise<ParsedModule> {
  const { parse } = await import('oxc-parser');
  const { program, errors } = await parse(fileName, source);
  return {
    registersTool: program.body.some(
      (statement) =>
        statement.type === 'ExpressionStatement' &&
        statement.expression.type === 'CallExpression' &&
        statement.expression.callee.type === 'MemberExpression' &&
        statement.expression.callee.object.type === 'Identifier' &&
        statement.expression.callee.object.name === 'registry' &&
        statement.expression.callee.property.type === 'Identifier' &&
        statement.expression.callee.property.name === 'register' &&
        !statement.expression.callee.computed,
    ),
    errors: errors.map((error) => {
      const start = error.labels[0]?.start ?? 0;
      return `line ${source.slice(0, start).split('\n').length}: ${error.message}`;
    }),
  };
}
