import { forEachChild, type ParsedScript, parse, type SyntaxNode } from 'unbash';

/**
 * The one door to the shell parser. Everything else in this folder works on these node types, so another parser
 * would have to be fitted here alone.
 */
export type {
  AndOr,
  Assignment,
  Command,
  CompoundList,
  DoubleQuotedChild,
  Function as FunctionNode,
  HereDoc,
  ParameterExpansionPart,
  ParsedScript,
  Pipeline,
  Redirection,
  Statement,
  SyntaxNode,
  Word as WordNode,
  WordPart,
} from 'unbash';

/** Never throws: what cannot be parsed comes back as a partial tree with `errors`. Time is linear in the text. */
export function parseShell(text: string): ParsedScript {
  return parse(text);
}

export function children(node: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  forEachChild(node, (child) => {
    found.push(child);
  });
  return found;
}
