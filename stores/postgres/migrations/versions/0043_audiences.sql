-- The audience of an entry, and of a message that is learned: volatile, so that it sees what the statement that calls it has kept so far.
ALTER FUNCTION mnestic.audience_of_entry(text, text, text, text, text) VOLATILE;
