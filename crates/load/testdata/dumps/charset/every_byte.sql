-- Every byte 0x00-0xff in BLOB and VARBINARY: escaped, raw, as hex, bare and behind _binary, in one row and one a row.
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, b BLOB, v VARBINARY(300), l VARCHAR(300) CHARACTER SET latin1, x BINARY(3));
INSERT INTO t (b, v) VALUES (_binary'\0	\n\r\Z !"#$%&\'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~€‚ƒ„…†‡ˆ‰Š‹Œ‘’“”•–—˜™š›œŸ ¡¢£¤¥¦§¨©ª«¬­®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖ×ØÙÚÛÜİŞßàáâãäåæçèéêëìíîïğñòóôõö÷øùúûüışÿ', _binary '\0	\n\r\Z !"#$%&\'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~€‚ƒ„…†‡ˆ‰Š‹Œ‘’“”•–—˜™š›œŸ ¡¢£¤¥¦§¨©ª«¬­®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖ×ØÙÚÛÜİŞßàáâãäåæçèéêëìíîïğñòóôõö÷øùúûüışÿ');
SET NAMES latin1;
INSERT INTO t (b, v, l) VALUES ('\0	\n\r\Z !"#$%&\'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~€‚ƒ„…†‡ˆ‰Š‹Œ‘’“”•–—˜™š›œŸ ¡¢£¤¥¦§¨©ª«¬­®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖ×ØÙÚÛÜİŞßàáâãäåæçèéêëìíîïğñòóôõö÷øùúûüışÿ', "\0	\n\r\Z !\"#$%&\'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~€‚ƒ„…†‡ˆ‰Š‹Œ‘’“”•–—˜™š›œŸ ¡¢£¤¥¦§¨©ª«¬­®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖ×ØÙÚÛÜİŞßàáâãäåæçèéêëìíîïğñòóôõö÷øùúûüışÿ", '\0	\n\r\Z !"#$%&\'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~€‚ƒ„…†‡ˆ‰Š‹Œ‘’“”•–—˜™š›œŸ ¡¢£¤¥¦§¨©ª«¬­®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖ×ØÙÚÛÜİŞßàáâãäåæçèéêëìíîïğñòóôõö÷øùúûüışÿ');
SET NAMES binary;
INSERT INTO t (b, v, l) VALUES ('\0	\n\r\Z !"#$%&\'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~€‚ƒ„…†‡ˆ‰Š‹Œ‘’“”•–—˜™š›œŸ ¡¢£¤¥¦§¨©ª«¬­®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖ×ØÙÚÛÜİŞßàáâãäåæçèéêëìíîïğñòóôõö÷øùúûüışÿ', '\0	\n\r\Z !"#$%&\'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~€‚ƒ„…†‡ˆ‰Š‹Œ‘’“”•–—˜™š›œŸ ¡¢£¤¥¦§¨©ª«¬­®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖ×ØÙÚÛÜİŞßàáâãäåæçèéêëìíîïğñòóôõö÷øùúûüışÿ', '\0	\n\r\Z !"#$%&\'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~€‚ƒ„…†‡ˆ‰Š‹Œ‘’“”•–—˜™š›œŸ ¡¢£¤¥¦§¨©ª«¬­®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖ×ØÙÚÛÜİŞßàáâãäåæçèéêëìíîïğñòóôõö÷øùúûüışÿ');
SET NAMES utf8mb4;
INSERT INTO t (b, v, l) VALUES (0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff, x'000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F404142434445464748494A4B4C4D4E4F505152535455565758595A5B5C5D5E5F606162636465666768696A6B6C6D6E6F707172737475767778797A7B7C7D7E7F808182838485868788898A8B8C8D8E8F909192939495969798999A9B9C9D9E9FA0A1A2A3A4A5A6A7A8A9AAABACADAEAFB0B1B2B3B4B5B6B7B8B9BABBBCBDBEBFC0C1C2C3C4C5C6C7C8C9CACBCCCDCECFD0D1D2D3D4D5D6D7D8D9DADBDCDDDEDFE0E1E2E3E4E5E6E7E8E9EAEBECEDEEEFF0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF', X'000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f');
INSERT INTO t (b, v, x) VALUES (_binary'\0',_binary'a\0b',_binary'\0');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'	',_binary'a	b',_binary'	');
INSERT INTO t (b, v, x) VALUES (_binary'\n',_binary'a\nb',_binary'\n');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'\r',_binary'a\rb',_binary'\r');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary' ',_binary'a b',_binary' ');
INSERT INTO t (b, v, x) VALUES (_binary'!',_binary'a!b',_binary'!');
INSERT INTO t (b, v, x) VALUES (_binary'"',_binary'a"b',_binary'"');
INSERT INTO t (b, v, x) VALUES (_binary'#',_binary'a#b',_binary'#');
INSERT INTO t (b, v, x) VALUES (_binary'$',_binary'a$b',_binary'$');
INSERT INTO t (b, v, x) VALUES (_binary'%',_binary'a%b',_binary'%');
INSERT INTO t (b, v, x) VALUES (_binary'&',_binary'a&b',_binary'&');
INSERT INTO t (b, v, x) VALUES (_binary'''',_binary'a''b',_binary'''');
INSERT INTO t (b, v, x) VALUES (_binary'(',_binary'a(b',_binary'(');
INSERT INTO t (b, v, x) VALUES (_binary')',_binary'a)b',_binary')');
INSERT INTO t (b, v, x) VALUES (_binary'*',_binary'a*b',_binary'*');
INSERT INTO t (b, v, x) VALUES (_binary'+',_binary'a+b',_binary'+');
INSERT INTO t (b, v, x) VALUES (_binary',',_binary'a,b',_binary',');
INSERT INTO t (b, v, x) VALUES (_binary'-',_binary'a-b',_binary'-');
INSERT INTO t (b, v, x) VALUES (_binary'.',_binary'a.b',_binary'.');
INSERT INTO t (b, v, x) VALUES (_binary'/',_binary'a/b',_binary'/');
INSERT INTO t (b, v, x) VALUES (_binary'0',_binary'a0b',_binary'0');
INSERT INTO t (b, v, x) VALUES (_binary'1',_binary'a1b',_binary'1');
INSERT INTO t (b, v, x) VALUES (_binary'2',_binary'a2b',_binary'2');
INSERT INTO t (b, v, x) VALUES (_binary'3',_binary'a3b',_binary'3');
INSERT INTO t (b, v, x) VALUES (_binary'4',_binary'a4b',_binary'4');
INSERT INTO t (b, v, x) VALUES (_binary'5',_binary'a5b',_binary'5');
INSERT INTO t (b, v, x) VALUES (_binary'6',_binary'a6b',_binary'6');
INSERT INTO t (b, v, x) VALUES (_binary'7',_binary'a7b',_binary'7');
INSERT INTO t (b, v, x) VALUES (_binary'8',_binary'a8b',_binary'8');
INSERT INTO t (b, v, x) VALUES (_binary'9',_binary'a9b',_binary'9');
INSERT INTO t (b, v, x) VALUES (_binary':',_binary'a:b',_binary':');
INSERT INTO t (b, v, x) VALUES (_binary';',_binary'a;b',_binary';');
INSERT INTO t (b, v, x) VALUES (_binary'<',_binary'a<b',_binary'<');
INSERT INTO t (b, v, x) VALUES (_binary'=',_binary'a=b',_binary'=');
INSERT INTO t (b, v, x) VALUES (_binary'>',_binary'a>b',_binary'>');
INSERT INTO t (b, v, x) VALUES (_binary'?',_binary'a?b',_binary'?');
INSERT INTO t (b, v, x) VALUES (_binary'@',_binary'a@b',_binary'@');
INSERT INTO t (b, v, x) VALUES (_binary'A',_binary'aAb',_binary'A');
INSERT INTO t (b, v, x) VALUES (_binary'B',_binary'aBb',_binary'B');
INSERT INTO t (b, v, x) VALUES (_binary'C',_binary'aCb',_binary'C');
INSERT INTO t (b, v, x) VALUES (_binary'D',_binary'aDb',_binary'D');
INSERT INTO t (b, v, x) VALUES (_binary'E',_binary'aEb',_binary'E');
INSERT INTO t (b, v, x) VALUES (_binary'F',_binary'aFb',_binary'F');
INSERT INTO t (b, v, x) VALUES (_binary'G',_binary'aGb',_binary'G');
INSERT INTO t (b, v, x) VALUES (_binary'H',_binary'aHb',_binary'H');
INSERT INTO t (b, v, x) VALUES (_binary'I',_binary'aIb',_binary'I');
INSERT INTO t (b, v, x) VALUES (_binary'J',_binary'aJb',_binary'J');
INSERT INTO t (b, v, x) VALUES (_binary'K',_binary'aKb',_binary'K');
INSERT INTO t (b, v, x) VALUES (_binary'L',_binary'aLb',_binary'L');
INSERT INTO t (b, v, x) VALUES (_binary'M',_binary'aMb',_binary'M');
INSERT INTO t (b, v, x) VALUES (_binary'N',_binary'aNb',_binary'N');
INSERT INTO t (b, v, x) VALUES (_binary'O',_binary'aOb',_binary'O');
INSERT INTO t (b, v, x) VALUES (_binary'P',_binary'aPb',_binary'P');
INSERT INTO t (b, v, x) VALUES (_binary'Q',_binary'aQb',_binary'Q');
INSERT INTO t (b, v, x) VALUES (_binary'R',_binary'aRb',_binary'R');
INSERT INTO t (b, v, x) VALUES (_binary'S',_binary'aSb',_binary'S');
INSERT INTO t (b, v, x) VALUES (_binary'T',_binary'aTb',_binary'T');
INSERT INTO t (b, v, x) VALUES (_binary'U',_binary'aUb',_binary'U');
INSERT INTO t (b, v, x) VALUES (_binary'V',_binary'aVb',_binary'V');
INSERT INTO t (b, v, x) VALUES (_binary'W',_binary'aWb',_binary'W');
INSERT INTO t (b, v, x) VALUES (_binary'X',_binary'aXb',_binary'X');
INSERT INTO t (b, v, x) VALUES (_binary'Y',_binary'aYb',_binary'Y');
INSERT INTO t (b, v, x) VALUES (_binary'Z',_binary'aZb',_binary'Z');
INSERT INTO t (b, v, x) VALUES (_binary'[',_binary'a[b',_binary'[');
INSERT INTO t (b, v, x) VALUES (_binary'\\',_binary'a\\b',_binary'\\');
INSERT INTO t (b, v, x) VALUES (_binary']',_binary'a]b',_binary']');
INSERT INTO t (b, v, x) VALUES (_binary'^',_binary'a^b',_binary'^');
INSERT INTO t (b, v, x) VALUES (_binary'_',_binary'a_b',_binary'_');
INSERT INTO t (b, v, x) VALUES (_binary'`',_binary'a`b',_binary'`');
INSERT INTO t (b, v, x) VALUES (_binary'a',_binary'aab',_binary'a');
INSERT INTO t (b, v, x) VALUES (_binary'b',_binary'abb',_binary'b');
INSERT INTO t (b, v, x) VALUES (_binary'c',_binary'acb',_binary'c');
INSERT INTO t (b, v, x) VALUES (_binary'd',_binary'adb',_binary'd');
INSERT INTO t (b, v, x) VALUES (_binary'e',_binary'aeb',_binary'e');
INSERT INTO t (b, v, x) VALUES (_binary'f',_binary'afb',_binary'f');
INSERT INTO t (b, v, x) VALUES (_binary'g',_binary'agb',_binary'g');
INSERT INTO t (b, v, x) VALUES (_binary'h',_binary'ahb',_binary'h');
INSERT INTO t (b, v, x) VALUES (_binary'i',_binary'aib',_binary'i');
INSERT INTO t (b, v, x) VALUES (_binary'j',_binary'ajb',_binary'j');
INSERT INTO t (b, v, x) VALUES (_binary'k',_binary'akb',_binary'k');
INSERT INTO t (b, v, x) VALUES (_binary'l',_binary'alb',_binary'l');
INSERT INTO t (b, v, x) VALUES (_binary'm',_binary'amb',_binary'm');
INSERT INTO t (b, v, x) VALUES (_binary'n',_binary'anb',_binary'n');
INSERT INTO t (b, v, x) VALUES (_binary'o',_binary'aob',_binary'o');
INSERT INTO t (b, v, x) VALUES (_binary'p',_binary'apb',_binary'p');
INSERT INTO t (b, v, x) VALUES (_binary'q',_binary'aqb',_binary'q');
INSERT INTO t (b, v, x) VALUES (_binary'r',_binary'arb',_binary'r');
INSERT INTO t (b, v, x) VALUES (_binary's',_binary'asb',_binary's');
INSERT INTO t (b, v, x) VALUES (_binary't',_binary'atb',_binary't');
INSERT INTO t (b, v, x) VALUES (_binary'u',_binary'aub',_binary'u');
INSERT INTO t (b, v, x) VALUES (_binary'v',_binary'avb',_binary'v');
INSERT INTO t (b, v, x) VALUES (_binary'w',_binary'awb',_binary'w');
INSERT INTO t (b, v, x) VALUES (_binary'x',_binary'axb',_binary'x');
INSERT INTO t (b, v, x) VALUES (_binary'y',_binary'ayb',_binary'y');
INSERT INTO t (b, v, x) VALUES (_binary'z',_binary'azb',_binary'z');
INSERT INTO t (b, v, x) VALUES (_binary'{',_binary'a{b',_binary'{');
INSERT INTO t (b, v, x) VALUES (_binary'|',_binary'a|b',_binary'|');
INSERT INTO t (b, v, x) VALUES (_binary'}',_binary'a}b',_binary'}');
INSERT INTO t (b, v, x) VALUES (_binary'~',_binary'a~b',_binary'~');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'€',_binary'a€b',_binary'€');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'‚',_binary'a‚b',_binary'‚');
INSERT INTO t (b, v, x) VALUES (_binary'ƒ',_binary'aƒb',_binary'ƒ');
INSERT INTO t (b, v, x) VALUES (_binary'„',_binary'a„b',_binary'„');
INSERT INTO t (b, v, x) VALUES (_binary'…',_binary'a…b',_binary'…');
INSERT INTO t (b, v, x) VALUES (_binary'†',_binary'a†b',_binary'†');
INSERT INTO t (b, v, x) VALUES (_binary'‡',_binary'a‡b',_binary'‡');
INSERT INTO t (b, v, x) VALUES (_binary'ˆ',_binary'aˆb',_binary'ˆ');
INSERT INTO t (b, v, x) VALUES (_binary'‰',_binary'a‰b',_binary'‰');
INSERT INTO t (b, v, x) VALUES (_binary'Š',_binary'aŠb',_binary'Š');
INSERT INTO t (b, v, x) VALUES (_binary'‹',_binary'a‹b',_binary'‹');
INSERT INTO t (b, v, x) VALUES (_binary'Œ',_binary'aŒb',_binary'Œ');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'‘',_binary'a‘b',_binary'‘');
INSERT INTO t (b, v, x) VALUES (_binary'’',_binary'a’b',_binary'’');
INSERT INTO t (b, v, x) VALUES (_binary'“',_binary'a“b',_binary'“');
INSERT INTO t (b, v, x) VALUES (_binary'”',_binary'a”b',_binary'”');
INSERT INTO t (b, v, x) VALUES (_binary'•',_binary'a•b',_binary'•');
INSERT INTO t (b, v, x) VALUES (_binary'–',_binary'a–b',_binary'–');
INSERT INTO t (b, v, x) VALUES (_binary'—',_binary'a—b',_binary'—');
INSERT INTO t (b, v, x) VALUES (_binary'˜',_binary'a˜b',_binary'˜');
INSERT INTO t (b, v, x) VALUES (_binary'™',_binary'a™b',_binary'™');
INSERT INTO t (b, v, x) VALUES (_binary'š',_binary'ašb',_binary'š');
INSERT INTO t (b, v, x) VALUES (_binary'›',_binary'a›b',_binary'›');
INSERT INTO t (b, v, x) VALUES (_binary'œ',_binary'aœb',_binary'œ');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'',_binary'ab',_binary'');
INSERT INTO t (b, v, x) VALUES (_binary'Ÿ',_binary'aŸb',_binary'Ÿ');
INSERT INTO t (b, v, x) VALUES (_binary' ',_binary'a b',_binary' ');
INSERT INTO t (b, v, x) VALUES (_binary'¡',_binary'a¡b',_binary'¡');
INSERT INTO t (b, v, x) VALUES (_binary'¢',_binary'a¢b',_binary'¢');
INSERT INTO t (b, v, x) VALUES (_binary'£',_binary'a£b',_binary'£');
INSERT INTO t (b, v, x) VALUES (_binary'¤',_binary'a¤b',_binary'¤');
INSERT INTO t (b, v, x) VALUES (_binary'¥',_binary'a¥b',_binary'¥');
INSERT INTO t (b, v, x) VALUES (_binary'¦',_binary'a¦b',_binary'¦');
INSERT INTO t (b, v, x) VALUES (_binary'§',_binary'a§b',_binary'§');
INSERT INTO t (b, v, x) VALUES (_binary'¨',_binary'a¨b',_binary'¨');
INSERT INTO t (b, v, x) VALUES (_binary'©',_binary'a©b',_binary'©');
INSERT INTO t (b, v, x) VALUES (_binary'ª',_binary'aªb',_binary'ª');
INSERT INTO t (b, v, x) VALUES (_binary'«',_binary'a«b',_binary'«');
INSERT INTO t (b, v, x) VALUES (_binary'¬',_binary'a¬b',_binary'¬');
INSERT INTO t (b, v, x) VALUES (_binary'­',_binary'a­b',_binary'­');
INSERT INTO t (b, v, x) VALUES (_binary'®',_binary'a®b',_binary'®');
INSERT INTO t (b, v, x) VALUES (_binary'¯',_binary'a¯b',_binary'¯');
INSERT INTO t (b, v, x) VALUES (_binary'°',_binary'a°b',_binary'°');
INSERT INTO t (b, v, x) VALUES (_binary'±',_binary'a±b',_binary'±');
INSERT INTO t (b, v, x) VALUES (_binary'²',_binary'a²b',_binary'²');
INSERT INTO t (b, v, x) VALUES (_binary'³',_binary'a³b',_binary'³');
INSERT INTO t (b, v, x) VALUES (_binary'´',_binary'a´b',_binary'´');
INSERT INTO t (b, v, x) VALUES (_binary'µ',_binary'aµb',_binary'µ');
INSERT INTO t (b, v, x) VALUES (_binary'¶',_binary'a¶b',_binary'¶');
INSERT INTO t (b, v, x) VALUES (_binary'·',_binary'a·b',_binary'·');
INSERT INTO t (b, v, x) VALUES (_binary'¸',_binary'a¸b',_binary'¸');
INSERT INTO t (b, v, x) VALUES (_binary'¹',_binary'a¹b',_binary'¹');
INSERT INTO t (b, v, x) VALUES (_binary'º',_binary'aºb',_binary'º');
INSERT INTO t (b, v, x) VALUES (_binary'»',_binary'a»b',_binary'»');
INSERT INTO t (b, v, x) VALUES (_binary'¼',_binary'a¼b',_binary'¼');
INSERT INTO t (b, v, x) VALUES (_binary'½',_binary'a½b',_binary'½');
INSERT INTO t (b, v, x) VALUES (_binary'¾',_binary'a¾b',_binary'¾');
INSERT INTO t (b, v, x) VALUES (_binary'¿',_binary'a¿b',_binary'¿');
INSERT INTO t (b, v, x) VALUES (_binary'À',_binary'aÀb',_binary'À');
INSERT INTO t (b, v, x) VALUES (_binary'Á',_binary'aÁb',_binary'Á');
INSERT INTO t (b, v, x) VALUES (_binary'Â',_binary'aÂb',_binary'Â');
INSERT INTO t (b, v, x) VALUES (_binary'Ã',_binary'aÃb',_binary'Ã');
INSERT INTO t (b, v, x) VALUES (_binary'Ä',_binary'aÄb',_binary'Ä');
INSERT INTO t (b, v, x) VALUES (_binary'Å',_binary'aÅb',_binary'Å');
INSERT INTO t (b, v, x) VALUES (_binary'Æ',_binary'aÆb',_binary'Æ');
INSERT INTO t (b, v, x) VALUES (_binary'Ç',_binary'aÇb',_binary'Ç');
INSERT INTO t (b, v, x) VALUES (_binary'È',_binary'aÈb',_binary'È');
INSERT INTO t (b, v, x) VALUES (_binary'É',_binary'aÉb',_binary'É');
INSERT INTO t (b, v, x) VALUES (_binary'Ê',_binary'aÊb',_binary'Ê');
INSERT INTO t (b, v, x) VALUES (_binary'Ë',_binary'aËb',_binary'Ë');
INSERT INTO t (b, v, x) VALUES (_binary'Ì',_binary'aÌb',_binary'Ì');
INSERT INTO t (b, v, x) VALUES (_binary'Í',_binary'aÍb',_binary'Í');
INSERT INTO t (b, v, x) VALUES (_binary'Î',_binary'aÎb',_binary'Î');
INSERT INTO t (b, v, x) VALUES (_binary'Ï',_binary'aÏb',_binary'Ï');
INSERT INTO t (b, v, x) VALUES (_binary'Ğ',_binary'aĞb',_binary'Ğ');
INSERT INTO t (b, v, x) VALUES (_binary'Ñ',_binary'aÑb',_binary'Ñ');
INSERT INTO t (b, v, x) VALUES (_binary'Ò',_binary'aÒb',_binary'Ò');
INSERT INTO t (b, v, x) VALUES (_binary'Ó',_binary'aÓb',_binary'Ó');
INSERT INTO t (b, v, x) VALUES (_binary'Ô',_binary'aÔb',_binary'Ô');
INSERT INTO t (b, v, x) VALUES (_binary'Õ',_binary'aÕb',_binary'Õ');
INSERT INTO t (b, v, x) VALUES (_binary'Ö',_binary'aÖb',_binary'Ö');
INSERT INTO t (b, v, x) VALUES (_binary'×',_binary'a×b',_binary'×');
INSERT INTO t (b, v, x) VALUES (_binary'Ø',_binary'aØb',_binary'Ø');
INSERT INTO t (b, v, x) VALUES (_binary'Ù',_binary'aÙb',_binary'Ù');
INSERT INTO t (b, v, x) VALUES (_binary'Ú',_binary'aÚb',_binary'Ú');
INSERT INTO t (b, v, x) VALUES (_binary'Û',_binary'aÛb',_binary'Û');
INSERT INTO t (b, v, x) VALUES (_binary'Ü',_binary'aÜb',_binary'Ü');
INSERT INTO t (b, v, x) VALUES (_binary'İ',_binary'aİb',_binary'İ');
INSERT INTO t (b, v, x) VALUES (_binary'Ş',_binary'aŞb',_binary'Ş');
INSERT INTO t (b, v, x) VALUES (_binary'ß',_binary'aßb',_binary'ß');
INSERT INTO t (b, v, x) VALUES (_binary'à',_binary'aàb',_binary'à');
INSERT INTO t (b, v, x) VALUES (_binary'á',_binary'aáb',_binary'á');
INSERT INTO t (b, v, x) VALUES (_binary'â',_binary'aâb',_binary'â');
INSERT INTO t (b, v, x) VALUES (_binary'ã',_binary'aãb',_binary'ã');
INSERT INTO t (b, v, x) VALUES (_binary'ä',_binary'aäb',_binary'ä');
INSERT INTO t (b, v, x) VALUES (_binary'å',_binary'aåb',_binary'å');
INSERT INTO t (b, v, x) VALUES (_binary'æ',_binary'aæb',_binary'æ');
INSERT INTO t (b, v, x) VALUES (_binary'ç',_binary'açb',_binary'ç');
INSERT INTO t (b, v, x) VALUES (_binary'è',_binary'aèb',_binary'è');
INSERT INTO t (b, v, x) VALUES (_binary'é',_binary'aéb',_binary'é');
INSERT INTO t (b, v, x) VALUES (_binary'ê',_binary'aêb',_binary'ê');
INSERT INTO t (b, v, x) VALUES (_binary'ë',_binary'aëb',_binary'ë');
INSERT INTO t (b, v, x) VALUES (_binary'ì',_binary'aìb',_binary'ì');
INSERT INTO t (b, v, x) VALUES (_binary'í',_binary'aíb',_binary'í');
INSERT INTO t (b, v, x) VALUES (_binary'î',_binary'aîb',_binary'î');
INSERT INTO t (b, v, x) VALUES (_binary'ï',_binary'aïb',_binary'ï');
INSERT INTO t (b, v, x) VALUES (_binary'ğ',_binary'ağb',_binary'ğ');
INSERT INTO t (b, v, x) VALUES (_binary'ñ',_binary'añb',_binary'ñ');
INSERT INTO t (b, v, x) VALUES (_binary'ò',_binary'aòb',_binary'ò');
INSERT INTO t (b, v, x) VALUES (_binary'ó',_binary'aób',_binary'ó');
INSERT INTO t (b, v, x) VALUES (_binary'ô',_binary'aôb',_binary'ô');
INSERT INTO t (b, v, x) VALUES (_binary'õ',_binary'aõb',_binary'õ');
INSERT INTO t (b, v, x) VALUES (_binary'ö',_binary'aöb',_binary'ö');
INSERT INTO t (b, v, x) VALUES (_binary'÷',_binary'a÷b',_binary'÷');
INSERT INTO t (b, v, x) VALUES (_binary'ø',_binary'aøb',_binary'ø');
INSERT INTO t (b, v, x) VALUES (_binary'ù',_binary'aùb',_binary'ù');
INSERT INTO t (b, v, x) VALUES (_binary'ú',_binary'aúb',_binary'ú');
INSERT INTO t (b, v, x) VALUES (_binary'û',_binary'aûb',_binary'û');
INSERT INTO t (b, v, x) VALUES (_binary'ü',_binary'aüb',_binary'ü');
INSERT INTO t (b, v, x) VALUES (_binary'ı',_binary'aıb',_binary'ı');
INSERT INTO t (b, v, x) VALUES (_binary'ş',_binary'aşb',_binary'ş');
INSERT INTO t (b, v, x) VALUES (_binary'ÿ',_binary'aÿb',_binary'ÿ');
SET sql_mode='NO_BACKSLASH_ESCAPES';
INSERT INTO t (b, v) VALUES (_binary'	 !"#$%&''()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz{|}~€‚ƒ„…†‡ˆ‰Š‹Œ‘’“”•–—˜™š›œŸ ¡¢£¤¥¦§¨©ª«¬­®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖ×ØÙÚÛÜİŞßàáâãäåæçèéêëìíîïğñòóôõö÷øùúûüışÿ', _binary'	 !"#$%&''()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz{|}~€‚ƒ„…†‡ˆ‰Š‹Œ‘’“”•–—˜™š›œŸ ¡¢£¤¥¦§¨©ª«¬­®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖ×ØÙÚÛÜİŞßàáâãäåæçèéêëìíîïğñòóôõö÷øùúûüışÿ');
